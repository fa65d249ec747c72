/** Backups and restores of an organization whose commands are killed at any point: in the end nothing is missing. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import type { Random } from "../../support/random.ts";
import { eventually } from "../cli/processes.ts";
import { createAccount } from "../cli/service.ts";
import { Customer } from "../stories/client.ts";
import { type ArchiveContent, readArchive } from "./archive-content.ts";
import type { KillableService } from "./killable-service.ts";
import { runKilled } from "./killed-command.ts";

const [ROOMS, COMMENTS, FILES] = [25, 3, 3];
/** More than goes in one part. */
const LARGE_BYTES = 9 * 1024 * 1024;
/** Highest number of kills of a backup, each after some lines of its output. */
const KILLS_PER_BACKUP = 8;
const MAX_LINES = 6;

/** Rooms, each with its user, some of which have comments and files; resolves when all of their events are in the log. */
async function furnish(customer: Customer): Promise<void> {
  for (let index = 0; index < ROOMS; index += 1) {
    const { id: roomId } = await customer.createRoom();
    const { id: userId } = await customer.createUser(roomId);
    if (index < COMMENTS)
      await customer.send("POST", `/rooms/${roomId}/comments`, { userId, text: `Comment ${index}` });
    if (index >= FILES) continue;
    const bytes = new Uint8Array(index === 0 ? LARGE_BYTES : 10).fill(index);
    const form = new FormData();
    for (const [name, value] of Object.entries({ roomId, userId })) form.append(name, value);
    form.append("file", new File([bytes], `${index}.bin`));
    const headers = { Authorization: `Bearer ${customer.organization.bearer}` };
    const response = await fetch(`${customer.base}/upload`, { method: "POST", headers, body: form });
    expect(response.status).toBe(201);
  }
  await customer.send("POST", "/webhooks", {
    url: "https://hooks.example.com",
    events: ["room.closed"],
    enabled: false,
  });
  const events = 2 * ROOMS + 2 * COMMENTS + FILES; // each comment starts a thread
  await eventually("all events to be in the log", async () => (await logOf(customer)).length === events);
}

const logOf = async (customer: Customer): Promise<readonly { readonly id: string }[]> =>
  (await customer.send<{ events: { id: string }[] }>("GET", "/events?limit=100")).data.events;

/**
 * Answers of the API. Only rooms with comments are asked for them: the object of another room is not restored,
 * and answers like that of a deleted room while it is in memory; a deletion that takes its minute does not find
 * it there.
 */
async function answersOf(customer: Customer): Promise<unknown> {
  const { data } = await customer.send<{ rooms: { id: string }[] }>("GET", "/rooms?limit=100");
  const paths = [
    ...data.rooms.flatMap(({ id }) => [`/users?roomId=${id}`, `/files?roomId=${id}`]),
    ...data.rooms.slice(-COMMENTS).map(({ id }) => `/rooms/${id}/comments`), // the oldest
  ];
  const answers = [];
  for (const to of ["/webhooks", ...paths]) answers.push((await customer.send("GET", to)).data);
  return [data, answers, (await logOf(customer)).map(({ id }) => id)];
}

/** Kills backups that often, and then the restore of the last one. Returns how many backups these were. */
export async function killUnderBackups(
  service: KillableService,
  kills: number,
  random: Random,
): Promise<{ readonly backups: number }> {
  const folder = await mkdtemp(path.join(tmpdir(), "atrium-backups-"));
  const at = ["--url", service.url, "--persist-to", service.state];
  try {
    const organization = await createAccount({ persistTo: service.state }, "Acme");
    const customer = new Customer(service, organization);
    await furnish(customer);
    const answers = await answersOf(customer);
    const backUp = async (name: string, times: number): Promise<ArchiveContent> => {
      const args = ["backup", organization.accountId, path.join(folder, name), ...at];
      await runKilled(args, { times, maxLines: MAX_LINES, random });
      return readArchive(path.join(folder, name));
    };
    const whole = await backUp("whole", 0);
    let [backups, left] = [0, kills];
    for (; left > 0; backups += 1) {
      const times = Math.min(KILLS_PER_BACKUP, left);
      left -= times;
      expect(await backUp(`${backups}`, times)).toEqual(whole);
    }
    await customer.send("DELETE", "/organization", { confirm: "Acme" });
    await service.query(`UPDATE accounts SET deleted_at = 1 WHERE id = '${organization.accountId}'`);
    await eventually("it to be gone", async () => {
      await service.runScheduled();
      return (
        (await service.query(`SELECT id FROM accounts WHERE id = '${organization.accountId}'`)).length === 0
      );
    });
    const args = ["restore", path.join(folder, `${backups - 1}`), ...at];
    await runKilled(args, { times: Math.min(KILLS_PER_BACKUP, kills), maxLines: MAX_LINES, random });
    expect(await answersOf(customer)).toEqual(answers);
    return { backups };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
