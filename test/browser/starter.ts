/** A starter of `examples/`, as it runs where someone has installed it: copied, and with the built package. */
import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { eventually, ROOT, run, runCli } from "../cli/processes.ts";
import type { SharedService } from "../cli/shared-service.ts";

type Environment = Pick<SharedService, "url" | "accountId" | "apiKey">;

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The manifest of a folder, by its path or as it is named in this repository. */
export const manifestOf = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(path.resolve(ROOT, folder, "package.json"), "utf8"));

/** Expects a starter to have `atrium` as it is built, and all else in the versions that this repository tests. */
export async function expectTestedVersions(name: string): Promise<void> {
  const [own, tested] = await Promise.all([manifestOf(`examples/${name}`), manifestOf(".")]);
  const { atrium, ...others } = { ...own.dependencies, ...own.devDependencies };
  expect(atrium).toBe("file:../../dist");
  expect({ ...tested.dependencies, ...tested.devDependencies }).toMatchObject(others);
}

/** Builds the package of `npm run build` where its types find those of its peers; returns the folder, to be removed. */
export async function buildPackage(): Promise<string> {
  await mkdir(path.join(ROOT, ".wrangler"), { recursive: true });
  const dist = await mkdtemp(path.join(ROOT, ".wrangler/package-"));
  expect(await runCli("build.ts", ["--out", dist])).toMatchObject({ exitCode: 0, stderr: "" });
  return dist;
}

/** Where a starter's packages come from: this repository, which has them in the same versions, or its own lock. */
export type Packages = "linked" | "locked";

export class Starter {
  readonly #parent: string;
  readonly #directory: string;
  readonly #service: Environment;
  #child: ChildProcess | undefined;
  /** What the process has printed. */
  output = "";

  private constructor(parent: string, name: string, service: Environment) {
    this.#parent = parent;
    this.#directory = path.join(parent, "examples", name);
    this.#service = service;
  }

  /** Copies the starter, and links its packages as `npm install` does, or installs them; `dist` has the built `atrium`. */
  static async install(
    name: string,
    dist: string,
    service: Environment,
    packages: Packages = "linked",
  ): Promise<Starter> {
    const parent = await mkdtemp(path.join(tmpdir(), `atrium-${name}-`));
    const starter = new Starter(parent, name, service);
    const isOwn = (file: string): boolean => !/node_modules|dist$/.test(path.relative(ROOT, file));
    await cp(path.join(ROOT, "examples", name), starter.#directory, { recursive: true, filter: isOwn });
    await symlink(dist, path.join(parent, "dist"));
    if (packages === "linked") await starter.#link();
    else await starter.#run("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"]);
    return starter;
  }

  /** Replaces a file of the copy by another text; of its own, if that depends on it. */
  async rewrite(name: string, textOf: (text: string) => string): Promise<void> {
    const file = path.join(this.#directory, name);
    await writeFile(file, textOf(await readFile(file, "utf8")));
  }

  async #link(): Promise<void> {
    const modules = path.join(this.#directory, "node_modules");
    const { dependencies, devDependencies } = await manifestOf(this.#directory);
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      const target = path.join(
        ...(name === "atrium" ? [this.#parent, "dist"] : [ROOT, "node_modules", name]),
      );
      await mkdir(path.dirname(path.join(modules, name)), { recursive: true });
      await symlink(target, path.join(modules, name));
    }
  }

  get #options() {
    const { url, accountId, apiKey } = this.#service;
    return { cwd: this.#directory, env: { ATRIUM_URL: url, ACCOUNT_ID: accountId, API_KEY: apiKey } };
  }

  /** Runs a Node.js program of the starter to its end. */
  run(...args: readonly string[]): Promise<void> {
    return this.#run(process.execPath, args);
  }

  async #run(program: string, args: readonly string[]): Promise<void> {
    const { exitCode, stdout, stderr } = await run(program, args, this.#options);
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
    await rm(this.#parent, { recursive: true, force: true });
  }
}
