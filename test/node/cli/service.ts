/** The service of `npm start` for tests across the network, on a free port and with a state folder of its own. */
import { spawn } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { COMMANDS, parseArguments } from "../../../src/cli/account-commands.ts";
import type { Outcome } from "../../../src/cli/archive-commands.ts";
import { eventually, findFreePort, killTree, ROOT } from "./processes.ts";

/** A limit for a hanging start only: a busy machine starts slowly. */
const START_DEADLINE_MS = 180_000;

/** The organization that a request acts for. */
export interface Organization {
  readonly accountId: string;
  readonly apiKey: string;
  /** The value of an `Authorization: Bearer` header. */
  readonly bearer: string;
}

export interface Service extends Organization {
  readonly url: string;
  /** How the organization's owner signs in to the dashboard. */
  readonly signIn: { readonly email: string; readonly password: string };
  readonly port: number;
  readonly pid: number;
  readonly persistTo: string;
  /** Everything it has printed so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The exit code, once the command has ended for any reason. */
  readonly ended: Promise<number | null>;
  /** Sends the process a signal, SIGINT by default, and waits for its exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
  /** Ends all of its processes at once, as a power failure does. */
  readonly kill: () => Promise<void>;
}

export interface StartOptions {
  /** A state folder that is kept, so that another start finds the same data. */
  readonly persistTo?: string;
  /** A state folder that a new one begins as a copy of, so that the start prepares nothing. */
  readonly preparedState?: string;
  readonly port?: number;
  /** Variables such as ATRIUM_SIGN_UP. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The checkout to run in, if not this one. */
  readonly root?: string;
  /** Turns the options of `npm start` into the command that starts it, if not Node.js itself. */
  readonly command?: (options: readonly string[]) => readonly [program: string, ...args: string[]];
}

export const bearerOf = (accountId: string, apiKey: string): string =>
  Buffer.from(`${accountId}:${apiKey}`).toString("base64");

/** Starts the service and waits for its banner. */
export async function startService(options: StartOptions = {}): Promise<Service> {
  const { root = ROOT, port = await findFreePort() } = options;
  const persistTo = options.persistTo ?? (await mkdtemp(path.join(tmpdir(), "atrium-")));
  if (options.preparedState !== undefined) await cp(options.preparedState, persistTo, { recursive: true });
  const { command = (flags) => [process.execPath, path.join(root, "src/cli/start.ts"), ...flags] } = options;
  const [program, ...args] = command(["--port", String(port), "--persist-to", persistTo]);
  // A process group of its own, as for a start from a terminal.
  const env = { ...process.env, ...options.settings };
  const child = spawn(program, args, { cwd: root, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  const pid = child.pid ?? 0;
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  let hasEnded = false;
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  }).finally(() => {
    hasEnded = true;
    if (options.persistTo === undefined) return rm(persistTo, { recursive: true, force: true });
  });
  const kill = async () => {
    await killTree(pid);
    await ended;
  };

  try {
    await eventually("the banner", () => hasEnded || stdout.includes("Ctrl-C stops it"), START_DEADLINE_MS);
    if (hasEnded) throw new Error("npm start has ended");
  } catch (error) {
    await kill();
    throw new Error(`${String(error)}\n${stdout}\n${stderr}`);
  }
  const [, accountId = ""] = /Account ID {2}(\S+)/.exec(stdout) ?? [];
  const [, apiKey = ""] = /API key {5}(\S+)/.exec(stdout) ?? [];
  const [, email = ""] = /Email {7}(\S+)/.exec(stdout) ?? [];
  const [, password = ""] = /Password {4}(\S+)/.exec(stdout) ?? [];
  return {
    signIn: { email, password },
    url: `http://localhost:${port}`,
    port,
    pid,
    persistTo,
    accountId,
    apiKey,
    bearer: bearerOf(accountId, apiKey),
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    stop: (signal = "SIGINT") => {
      child.kill(signal);
      return ended;
    },
    kill,
  };
}

const NEVER = new AbortController().signal;

/** Carries out a command of `npm run account` in this process, which saves the time to start one. Throws a refusal. */
export async function account(
  { persistTo }: Pick<Service, "persistTo">,
  ...args: string[]
): Promise<Outcome> {
  const parsed = parseArguments(["--persist-to", persistTo, ...args]);
  return COMMANDS[parsed.command].run(parsed, NEVER);
}

/** Another organization on the running service. */
export async function createAccount(
  service: Pick<Service, "persistTo">,
  name = "Tested",
): Promise<Organization> {
  const { result } = await account(service, "create", "--", name);
  const { accountId, apiKey } = result as Organization;
  return { accountId, apiKey, bearer: bearerOf(accountId, apiKey) };
}
