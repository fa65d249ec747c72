/** A window of Chromium that no test has started in its own way: its pages are hidden, cached and frozen as those of a person. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, killTree } from "../cli/processes.ts";
import { ARGUMENTS, EXECUTABLE } from "./chromium.ts";

const WINDOW_ARGUMENTS = [
  ...ARGUMENTS,
  "--no-default-browser-check",
  "--password-store=basic",
  "--remote-debugging-port=0",
];
const STARTED = /^DevTools listening on ws:\/\/([^/]+)\//m;

export class BrowserWindow {
  /** Host and port at which it takes commands. */
  readonly control: string;
  readonly #end: () => Promise<void>;

  private constructor(control: string, end: () => Promise<void>) {
    this.control = control;
    this.#end = end;
  }

  /** Opens a window whose only tab shows the page. */
  static async open(
    url: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<BrowserWindow> {
    const profile = await mkdtemp(path.join(tmpdir(), "atrium-window-"));
    const env = { ...process.env, ...environment };
    const all = [...WINDOW_ARGUMENTS, `--user-data-dir=${profile}`, ...args, url];
    const child = spawn(EXECUTABLE, all, { env, stdio: ["ignore", "ignore", "pipe"] });
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const end = async () => {
      await killTree(child.pid ?? 0);
      await rm(profile, { recursive: true, force: true });
    };
    try {
      await eventually("the window to open", () => child.exitCode !== null || STARTED.test(output));
      const [, control] = STARTED.exec(output) ?? [];
      if (control === undefined) throw new Error("Chromium has ended");
      return new BrowserWindow(control, end);
    } catch (error) {
      await end();
      throw new Error(output, { cause: error });
    }
  }

  /** Opens another tab in front. */
  async openTab(url: string): Promise<void> {
    const { ok } = await fetch(`http://${this.control}/json/new?${url}`, { method: "PUT" });
    if (!ok) throw new Error("The tab could not be opened");
  }

  close(): Promise<void> {
    return this.#end();
  }
}
