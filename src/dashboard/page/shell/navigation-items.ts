/** The pages of an organization, for the navigation, the palette and the shortcuts. */
import type { IconName } from "../ui/button.tsx";

export interface NavigationItem {
  readonly name: string;
  /** The path below the organization's. */
  readonly path: string;
  readonly icon: IconName;
  /** The shortcut's letter after `g`. */
  readonly letter: string;
}

export const NAVIGATION_ITEMS: readonly NavigationItem[] = [
  { name: "Overview", path: "", icon: "overview", letter: "o" },
  { name: "Rooms", path: "/rooms", icon: "rooms", letter: "r" },
  { name: "Files", path: "/files", icon: "file", letter: "f" },
  { name: "Webhooks", path: "/webhooks", icon: "webhooks", letter: "h" },
  { name: "Workflows", path: "/workflows", icon: "workflows", letter: "w" },
  { name: "Logs", path: "/logs", icon: "logs", letter: "l" },
  { name: "Settings", path: "/settings", icon: "settings", letter: "s" },
];
