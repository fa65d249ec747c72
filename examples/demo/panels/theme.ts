/** Light, dark, or like the system: kept with the choice of the dashboard and the documentation. */
import { useState } from "react";

export const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const KEY = "theme";

const readTheme = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system";

/** Is called before the first render, so that the page does not flash. */
export function applyTheme(theme = readTheme()): void {
  document.documentElement.dataset.theme = theme;
}

export function useTheme() {
  const [theme, setTheme] = useState(readTheme);
  const choose = (next: Theme) => {
    localStorage.setItem(KEY, next);
    applyTheme(next);
    setTheme(next);
  };
  return [theme, choose] as const;
}
