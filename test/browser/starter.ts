/** A starter of `examples/`, as it runs where someone has installed it: copied, and with the built package. */
import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, ROOT, run } from "../node/processes.ts";
import type { SharedService } from "../node/shared-service.ts";

/** The packages of its manifest besides `atrium`, which this repository has in the same versions. */
const PACKAGES = ["react", "react-dom", "vite"];

export class Starter {
  readonly #directory: string;
  readonly #service: SharedService;
  #child: ChildProcess | undefined;
  /** What the process has printed. */
  output = "";

  private constructor(directory: string, service: SharedService) {
    this.#directory = directory;
    this.#service = service;
  }

  /** Copies the starter, and links its packages as `npm install` does; `dist` has the built `atrium`. */
  static async install(name: string, dist: string, service: SharedService): Promise<Starter> {
    const directory = await mkdtemp(path.join(tmpdir(), `atrium-${name}-`));
    const modules = path.join(directory, "node_modules");
    const isOwn = (file: string): boolean => !file.includes("node_modules");
    await cp(path.join(ROOT, "examples", name), directory, { recursive: true, filter: isOwn });
    await mkdir(modules);
    await symlink(dist, path.join(modules, "atrium"));
    for (const name of PACKAGES)
      await symlink(path.join(ROOT, "node_modules", name), path.join(modules, name));
    return new Starter(directory, service);
  }

  get #options() {
    const { url, accountId, apiKey } = this.#service;
    return { cwd: this.#directory, env: { ATRIUM_URL: url, ACCOUNT_ID: accountId, API_KEY: apiKey } };
  }

  /** Runs a Node.js program of the starter to its end. */
  async run(...args: readonly string[]): Promise<void> {
    const { exitCode, stdout, stderr } = await run(process.execPath, args, this.#options);
    if (exitCode !== 0) throw new Error(`${args.join(" ")} failed:\n${stdout}\n${stderr}`);
  }

  /** Runs the program that serves the starter, on this port or any; returns its address when it listens. */
  async start(args: readonly string[], port = 0): Promise<string> {
    const { cwd, env } = this.#options;
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, ...env, PORT: String(port), NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    let address: string | undefined;
    await eventually("the starter listens", () => {
      if (child.exitCode !== null) throw new Error(`The starter has ended:\n${this.output}`);
      address = /http:\/\/localhost:\d+/.exec(this.output)?.[0];
      return address !== undefined;
    });
    return address ?? "";
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  /** Ends the process, and removes the copy. */
  async remove(): Promise<void> {
    await this.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
