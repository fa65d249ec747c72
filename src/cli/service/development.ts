/** The differences of the service on this machine, and in tests, from a deployment: bindings, settings, cron and mail. */

import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { MINUTE_MS } from "@atrium/contract/time.ts";
import type { TrayMail } from "../../features/mail/mailer.ts";
import type { Settings } from "../../platform/settings.ts";

export const DEVELOPMENT = {
  /** Bindings for Miniflare beside those of wrangler.toml: workflows run without any set-up. */
  bindings: { workerLoaders: { LOADER: {} } },
  publicNetwork: { network: { allow: ["public"], deny: [], tlsOptions: { trustBrowserCas: true } } },
  /** Settings that wrangler.toml and .dev.vars override: anyone may sign up. */
  settings: { SIGN_UP: "open" },
  /** Settings that nothing overrides here: workerd has no jurisdictions, and throws for one. */
  withoutPlaces: { LOCATION: "", JURISDICTION: "" },
};

/** Keeps mail on this machine, unless the service is for others: it has an origin of its own, or an empty MAIL_FROM. */
export const mailInDevelopment = (settings: Settings, port: number): Settings | null =>
  settings.PUBLIC_ORIGIN || settings.MAIL_FROM !== undefined
    ? null
    : { MAIL_FROM: "atrium@mail.test", MAIL_ORIGIN: `http://localhost:${port}` };

const PREFIX = "ATRIUM_";

/** The settings among the environment's variables: `ATRIUM_SIGN_UP` is SIGN_UP. They override those of every file. */
export const settingsOf = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith(PREFIX) && value !== undefined ? [[name.slice(PREFIX.length), value]] : [],
    ),
  );

/** Runs `tasks` now and every minute, until `stop`. A long run delays the next one. Failures after `stop` are ignored. */
export function runEveryMinute(
  tasks: () => Promise<unknown>,
  report: (error: unknown) => void,
  stop: AbortSignal,
): void {
  const run = async () => {
    await tasks().catch((error: unknown) => {
      if (!stop.aborted) report(error);
    });
    if (!stop.aborted) timer = setTimeout(run, MINUTE_MS);
  };
  let timer: NodeJS.Timeout | undefined;
  stop.addEventListener("abort", () => clearTimeout(timer), { once: true });
  void run();
}

/** The earliest mails make room. */
const MAX_KEPT = 50;
/** Modes of the mails' folder and files: the mails contain links that sign people in. */
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

const parseMail = (json: string): TrayMail => JSON.parse(json) as TrayMail;

/** Answers the service's mailer: writes each mail to the folder, and announces where it is. */
export function mailTray(folder: string, announce: (line: string) => void) {
  let count = 0;
  return async (request: { text(): Promise<string> }): Promise<Response> => {
    const { from, to, subject, text } = parseMail(await request.text());
    await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
    count += 1;
    const name = `${new Date().toISOString().replaceAll(":", "-")}-${count}.txt`;
    const file = path.join(folder, name);
    await writeFile(file, `From: ${from}\nTo: ${to}\nSubject: ${subject}\n\n${text}`, { mode: PRIVATE_FILE });
    const kept = (await readdir(folder)).filter((each) => each.endsWith(".txt")).sort();
    await Promise.all(kept.slice(0, -MAX_KEPT).map((each) => rm(path.join(folder, each), { force: true })));
    announce(`A mail to ${to}, “${subject}”, is in ${file}`);
    return new Response(null, { status: 204 });
  };
}

const CONSEQUENCE =
  "runs workflows in the service's own process: only their wall time is bounded, and an endless loop stops everything.";

/** Warning in the terminal of `wrangler dev`. */
export const DEV_WARNING = `wrangler dev ${CONSEQUENCE} npm start gives each a process of its own.`;

/** Warning of `npm start` on Windows, where workerd has no Unix sockets. */
export const WINDOWS_WARNING = `On Windows, npm start ${CONSEQUENCE} Under WSL each has a process of its own.`;
