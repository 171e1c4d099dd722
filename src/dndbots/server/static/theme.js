// Set the chosen theme before the page is drawn. Without a choice, the system's counts.
const chosen = localStorage.getItem("theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
