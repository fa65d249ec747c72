/** The screen for a real window: that of `DISPLAY`, or a virtual one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { killTree } from "../cli/processes.ts";

export interface Screen {
  /** The value of `DISPLAY`. */
  readonly name: string;
  readonly close: () => Promise<void>;
}

/** Throws when there is none, and Xvfb is not installed. */
export async function openScreen(): Promise<Screen> {
  const { DISPLAY: present = "" } = process.env;
  return present === "" ? startVirtual() : { name: present, close: async () => {} };
}

/** Xvfb chooses a free number, and writes it to the descriptor 3. */
async function startVirtual(): Promise<Screen> {
  const args = ["-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp"];
  const child = spawn("Xvfb", args, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`Xvfb ended with exit code ${code}`);
  });
  failed.catch(() => undefined); // a later end is expected
  const chosen = once(child.stdio[3] ?? child, "data");
  try {
    const [number] = await Promise.race([chosen, failed]);
    return { name: `:${String(number).trim()}`, close: () => killTree(child.pid ?? 0) };
  } catch (error) {
    throw new Error("This needs a screen: install Xvfb (Debian: apt-get install xvfb), or set DISPLAY", {
      cause: error,
    });
  }
}
