"""A line between two programs that can be slow, stall, or be cut."""

import socket
import threading
import time
from contextlib import suppress


class Proxy:
    """Passes on all bytes between those who connect and a port of this machine.

    Parameters
    ----------
    port : int

    Attributes
    ----------
    address : str
        What to connect to instead of the port, as Dask writes it.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._flows = threading.Event()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        self.heal()
        threading.Thread(target=self._accept, daemon=True).start()

    def heal(self) -> None:
        """Let all bytes pass at once."""
        self._is_cut, self._delay = False, 0.0
        self._flows.set()

    def stall(self) -> None:
        """Keep all connections open, and let nothing pass."""
        self._flows.clear()

    def slow_down(self, seconds: float) -> None:
        """Keep each piece for some time."""
        self._delay = seconds

    def cut(self) -> None:
        """Close all connections, and new ones at once."""
        self._is_cut = True
        for end in list(self._open):
            _close(end)

    def close(self) -> None:
        """Close all connections, and accept no more."""
        self.cut()
        self._flows.set()
        _close(self._listener)

    def _accept(self) -> None:
        with suppress(OSError):  # the listener was closed
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self._port))
        except OSError:  # nobody listens there
            _close(near)
            return
        self._open |= {near, far}
        if self._is_cut:
            _close(near)
            _close(far)
        threading.Thread(target=self._pass_on, args=(near, far), daemon=True).start()
        self._pass_on(far, near)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):  # an end was closed
            while piece := source.recv(1 << 16):
                time.sleep(self._delay)
                self._flows.wait()
                target.sendall(piece)
        _close(source)
        _close(target)
        self._open -= {source, target}


def _close(end: socket.socket) -> None:
    with suppress(OSError):  # the other side was faster
        end.shutdown(socket.SHUT_RDWR)  # wakes the threads that wait for it
    end.close()
