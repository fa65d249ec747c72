/** Keeps the mails of a service on this machine as files that a developer can read, instead of sending them. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { TrayMail } from "../../features/mail/mailer.ts";

/** The earliest mails make room. */
const MAX_KEPT = 50;
/** They contain links that sign people in. */
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** As the service's mailer writes it. */
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
