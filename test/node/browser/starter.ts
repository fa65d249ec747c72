/** A starter of `examples/`, or the files of a quickstart, as they run where someone has installed them, with the built package. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, ROOT, run, runCli } from "../cli/processes.ts";
import type { SharedService } from "../cli/shared-service.ts";
import { type Block, readBlocks, readDocument } from "../docs/markdown.ts";

/** Finds `vite` and this Node.js, as npm's scripts find what is installed. */
const PATH = [path.join(ROOT, "node_modules/.bin"), process.env.PATH].join(path.delimiter);

type Environment = Pick<SharedService, "url" | "accountId" | "apiKey">;

interface Manifest {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
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
  assert.equal(atrium, "file:../../dist");
  assert.partialDeepStrictEqual({ ...tested.dependencies, ...tested.devDependencies }, others);
}

/** Builds the package of `npm run build` where its types find those of its peers; returns the folder, to be removed. */
export async function buildPackage(): Promise<string> {
  await mkdir(path.join(ROOT, ".wrangler"), { recursive: true });
  const dist = await mkdtemp(path.join(ROOT, ".wrangler/package-"));
  const { exitCode, stderr } = await runCli("build.ts", ["--out", dist]);
  assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" });
  return dist;
}

/** Where a starter's packages come from: this repository, which has them in the same versions, or its own lock. */
export type Packages = "linked" | "locked";

/** The commands of a page, each in one line. */
const commandsIn = (blocks: readonly Block[]): string[] =>
  blocks
    .filter(({ language, file }) => language === "sh" && file === undefined)
    .flatMap(({ code }) => code.replaceAll(/\\\n\s*/g, "").split("\n"));

export class Starter {
  readonly #parent: string;
  readonly #directory: string;
  /** Variables of its processes. */
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  /** The commands of a quickstart, in their order. */
  commands: readonly string[] = [];
  /** What the process has printed. */
  output = "";

  private constructor(parent: string, directory: string, env: Record<string, string>) {
    this.#parent = parent;
    this.#directory = path.join(parent, directory);
    this.#env = env;
  }

  /** Copies the starter, and links its packages as `npm install` does, or installs them; `dist` has the built `atrium`. */
  static async install(
    name: string,
    dist: string,
    { url, accountId, apiKey }: Environment,
    packages: Packages = "linked",
  ): Promise<Starter> {
    const parent = await mkdtemp(path.join(tmpdir(), `atrium-${name}-`));
    const env = { ATRIUM_URL: url, ACCOUNT_ID: accountId, API_KEY: apiKey };
    const starter = new Starter(parent, `examples/${name}`, env);
    const isOwn = (file: string): boolean => !/node_modules|dist$/.test(path.relative(ROOT, file));
    await cp(path.join(ROOT, "examples", name), starter.#directory, { recursive: true, filter: isOwn });
    await symlink(dist, path.join(parent, "dist"));
    if (packages === "linked") await starter.#link(dist);
    else await starter.#run("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"]);
    return starter;
  }

  /**
   * Writes the files of a quickstart into an empty folder, with the keys in `.env`, and links the packages that the page
   * installs, or those of them that a test needs.
   */
  static async follow(
    name: string,
    dist: string,
    service: Environment,
    isInstalled = (_package: string): boolean => true,
  ): Promise<Starter> {
    const starter = new Starter(await mkdtemp(path.join(tmpdir(), `atrium-${name}-`)), name, {});
    await mkdir(starter.#directory);
    const blocks = readBlocks(await readDocument(`docs/quickstarts/${name}.md`));
    for (const { file, code } of blocks) if (file !== undefined) await starter.write(file, `${code}\n`);
    await starter.rewrite(".env", (text) =>
      text
        .replace("http://localhost:8787", service.url)
        .replace("ACCOUNT_ID=...", `ACCOUNT_ID=${service.accountId}`)
        .replace("API_KEY=...", `API_KEY=${service.apiKey}`),
    );
    starter.commands = commandsIn(blocks);
    await starter.#link(dist, isInstalled);
    return starter;
  }

  /** Downloads a quickstart's finished folder by the page's own command, and installs `atrium` from the service. */
  static async download(name: string, { url, accountId, apiKey }: Environment): Promise<Starter> {
    const parent = await mkdtemp(path.join(tmpdir(), `atrium-${name}-`));
    const starter = new Starter(parent, name, {});
    starter.commands = commandsIn(readBlocks(await readDocument(`docs/quickstarts/${name}.md`)));
    const [setKeys = "", download = ""] = starter.commands;
    const command = [
      setKeys
        .replace("ACCOUNT_ID=...", `ACCOUNT_ID=${accountId}`)
        .replace("API_KEY=...", `API_KEY=${apiKey}`),
      download.replace("http://localhost:8787", url),
    ].join("\n");
    const { exitCode, stderr } = await run("bash", ["-o", "pipefail", "-c", command], { cwd: parent });
    assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" });
    // Types are for the reader's editor alone.
    await starter.rewrite("package.json", (text) =>
      JSON.stringify({ ...JSON.parse(text), devDependencies: undefined }),
    );
    await starter.shell("npm install --no-audit --no-fund");
    return starter;
  }

  /** Writes a file of the copy. */
  async write(name: string, text: string): Promise<void> {
    const file = path.join(this.#directory, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  /** Replaces a file of the copy by another text; of its own, if that depends on it. */
  async rewrite(name: string, textOf: (text: string) => string): Promise<void> {
    const file = path.join(this.#directory, name);
    await writeFile(file, textOf(await readFile(file, "utf8")));
  }

  async #link(dist: string, isInstalled = (_package: string): boolean => true): Promise<void> {
    const { dependencies, devDependencies } = await manifestOf(this.#directory);
    const modules = path.join(this.#directory, "node_modules");
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      if (!isInstalled(name)) continue;
      const place = path.join(modules, name);
      await mkdir(path.dirname(place), { recursive: true });
      // A tarball is unpacked, and so finds the packages of the folder. A folder is linked.
      if (name === "atrium" && version.endsWith(".tgz")) await cp(dist, place, { recursive: true });
      else if (name === "atrium") await symlink(dist, place);
      else await linkPackage(name, version, place);
    }
  }

  /** Runs a Node.js program of the starter to its end; returns what it has printed. */
  run(...args: readonly string[]): Promise<string> {
    return this.#run(process.execPath, args);
  }

  /** Runs a command of the shell, as in a second terminal. */
  shell(command: string): Promise<string> {
    return this.#run("bash", ["-c", command]);
  }

  async #run(program: string, args: readonly string[]): Promise<string> {
    const env = { ...this.#env, PATH };
    const { exitCode, stdout, stderr } = await run(program, args, { cwd: this.#directory, env });
    if (exitCode !== 0) throw new Error(`${args.join(" ")} failed:\n${stdout}\n${stderr}`);
    return stdout;
  }

  /** Runs `npm start`, or a Node.js program that serves the starter, on this port or any; returns its address. */
  async start(args?: readonly string[], port = 0): Promise<string> {
    await this.begin(args, port);
    let address: string | undefined;
    await this.prints("its address", (output) => {
      address = /http:\/\/localhost:\d+/.exec(output)?.[0];
      return address !== undefined;
    });
    return address ?? "";
  }

  /** Runs `npm start`, or a Node.js program. */
  async begin(args?: readonly string[], port = 0): Promise<void> {
    const { scripts } = await manifestOf(this.#directory);
    const [program, given] = args ? [process.execPath, args] : ["bash", ["-c", `exec ${scripts.start}`]];
    const child = spawn(program, given, {
      cwd: this.#directory,
      env: { ...process.env, ...this.#env, PATH, PORT: String(port), NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
  }

  /** Waits until the process has printed something. */
  prints(what: string, isThere: (output: string) => boolean): Promise<void> {
    return eventually(`the starter prints ${what}`, () => {
      const hasEnded = this.#child === undefined || this.#child.exitCode !== null;
      if (hasEnded) throw new Error(`The starter has ended:\n${this.output}`);
      return isThere(this.output);
    });
  }

  /** Waits until the process has ended by itself. */
  ends(): Promise<void> {
    return eventually("the starter ends", () => this.#child?.exitCode != null);
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

/**
 * Puts a package of this repository where npm would. A second version, as of React, is a copy, which finds its peers
 * beside it and not in this repository.
 */
async function linkPackage(name: string, version: string, place: string): Promise<void> {
  const twin = path.join(ROOT, "node_modules", `${name}-${version.split(".")[0]}`);
  const source = existsSync(twin) ? twin : path.join(ROOT, "node_modules", name);
  if (source === twin) await cp(source, place, { recursive: true });
  else await symlink(source, place);
  // Types are for the reader's editor alone.
  if (!name.startsWith("@types/")) {
    const linked: unknown = JSON.parse(await readFile(path.join(source, "package.json"), "utf8"));
    assert.partialDeepStrictEqual(linked, { version }, `${name} is tested in another version`);
  }
}
