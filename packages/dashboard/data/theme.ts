/** The theme: the system's, unless the person chose light or dark. */
import { useSyncExternalStore } from "react";

export const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const KEY = "theme";
const darkness = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

const readTheme = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system";

/** Called before the first render, so that the page does not flash. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = readTheme();
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  applyTheme();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  darkness.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    darkness.removeEventListener("change", listener);
  };
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, readTheme);

/** True when the page is dark, for canvases, which CSS does not style. */
export const useIsDark = (): boolean =>
  useSyncExternalStore(subscribe, () => {
    const theme = readTheme();
    return theme === "dark" || (theme === "system" && darkness.matches);
  });
