/** The pages that an organization has, for the navigation, the palette and the shortcuts. */
import type { IconName } from "../ui/icon.tsx";

export interface Place {
  readonly name: string;
  /** Below the organization. */
  readonly path: string;
  readonly icon: IconName;
  /** After `g`. */
  readonly letter: string;
}

export const PLACES: readonly Place[] = [
  { name: "Overview", path: "", icon: "overview", letter: "o" },
  { name: "Rooms", path: "/rooms", icon: "rooms", letter: "r" },
  { name: "Webhooks", path: "/webhooks", icon: "webhooks", letter: "h" },
  { name: "Workflows", path: "/workflows", icon: "workflows", letter: "w" },
  { name: "Settings", path: "/settings", icon: "settings", letter: "s" },
];
