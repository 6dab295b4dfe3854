// Runs before the first paint, so that a chosen theme does not flash; a module would run too late.
(() => {
  try {
    const theme = localStorage.getItem("quarry.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be switched off; the system's theme is fine.
  }
})();
