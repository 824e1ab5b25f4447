def measure_rounds():
    return {}
