// Light or dark, and the editor's keys: kept in this browser.
const at = id => document.getElementById(`r-${id}`);
export const keep = (key, value) => { try { localStorage.setItem(key, value); } catch { /* only for this visit then */ } };
export const kept = key => { try { return localStorage.getItem(key); } catch { return null; } };

export const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

export function startSettings(editor, themeChanged) {
  const before = kept("ridge-theme");
  if (before) document.documentElement.dataset.theme = before;
  at("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    keep("ridge-theme", document.documentElement.dataset.theme);
    themeChanged();
  });
  at("keymap").value = kept("ridge-keymap") ?? "default";
  editor.keymap = at("keymap").value || "default";
  at("keymap").addEventListener("change", () => { editor.keymap = at("keymap").value; keep("ridge-keymap", at("keymap").value); });
  at("help").addEventListener("click", () => at("keys").showModal());
}
