// Colours of the style, for canvases. The style knows light and dark; a canvas does not.

const NAMES = ["ink", "soft", "line", "faint", "paper", "grey", "pale", "land", "shore", "accent"];

export function readTheme(root) {
  const theme = {};
  for (const name of NAMES) {
    const probe = document.createElement("i");
    probe.hidden = true;
    probe.style.color = `var(--${name})`;
    root.append(probe);
    theme[name] = getComputedStyle(probe).color;
    probe.remove();
  }
  return theme;
}

export function rgb(colour) { // "#0072b2" or "rgb(0, 114, 178)" as numbers
  if (colour.startsWith("#")) return [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  return colour.match(/[\d.]+/g).slice(0, 3).map(Number);
}

export function whenThemeChanges(root, react) { // whatever switches it: a transition of the colour ends,
  for (const end of ["transitionend", "transitioncancel"]) { // or is cut short, as in JupyterLab
    root.addEventListener(end, (event) => {
      if (event.target === root) react();
    });
  }
}
