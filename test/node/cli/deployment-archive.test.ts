/** `npm run account -- backup --all` and `-- restore --all`: interrupted, while organizations come and go, and where they must refuse. */
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KillableService } from "../endurance/killable-service.ts";
import { Customer } from "../stories/client.ts";
import { RequestGate } from "./gate.ts";
import { createOrganization, signInOwner, signUpOrganization } from "./owner.ts";
import { eventually, ROOT } from "./processes.ts";
import { account, type Organization } from "./service.ts";

/** Password of `signUpOrganization`. */
const PASSWORD = "correct horse battery";
const ORGANIZATIONS = 6;

let source: KillableService;
let target: KillableService;
let gates: ReadonlyMap<KillableService, RequestGate> = new Map();
let directory: string;
let owner: { readonly email: string; readonly cookie: string };
/** Organization of another person, whose address is known at the target. */
let known: { readonly email: string; readonly organization: Organization };
/** Organizations in the order of their IDs, which is that of the command. The first four are handled at once. */
let organizations: readonly Organization[] = [];

const at = (name: string): string => path.join(directory, name);
const folderOf = ({ accountId }: Organization): string => path.join(at("backup"), "organizations", accountId);

/** A new person with an organization. */
async function signUp() {
  const organization = await signUpOrganization(source.url);
  const latest = "SELECT email FROM people ORDER BY rowid DESC LIMIT 1";
  const [{ email = "" } = {}] = await source.query<{ email: string }>(latest);
  return { organization, email };
}

const signIn = (service: KillableService, email: string): Promise<string> =>
  signInOwner({ url: service.url, signIn: { email, password: PASSWORD } });

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "atrium-deployment-"));
  const prepare = () => KillableService.prepare("loader", { settings: { SIGN_UP: "open" } });
  [source, target] = await Promise.all([prepare(), prepare()]);
  const gateOf = async (service: KillableService) =>
    [service, await RequestGate.before(() => service.url)] as const;
  gates = new Map(await Promise.all([source, target].map(gateOf)));
  const { organization, email } = await signUp();
  owner = { email, cookie: await signIn(source, email) };
  known = await signUp();
  const made = [source.organization, organization, known.organization];
  while (made.length < ORGANIZATIONS) made.push(await createOrganization(source.url, owner.cookie));
  organizations = made.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
  for (const each of organizations) await furnish(source, each);
});
afterAll(async () => {
  for (const gate of gates.values()) gate.close();
  await Promise.all([source?.dispose(), target?.dispose()]);
  await rm(directory, { recursive: true, force: true });
});

const gateOf = (service: KillableService): RequestGate => found(gates.get(service));

function found<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Error("It was not made");
  return thing;
}

/** One of those that only the source has, and that is not of the person whom the target knows. */
function nth(index: number): Organization {
  const others = [source.organization, known.organization].map(({ accountId }) => accountId);
  return found(organizations.filter(({ accountId }) => !others.includes(accountId))[index]);
}

/** One room with a user and a comment. */
async function furnish(service: KillableService, organization: Organization): Promise<void> {
  const customer = new Customer(service, organization);
  const { id: roomId } = await customer.createRoom();
  const { id: userId } = await customer.createUser(roomId);
  await customer.send("POST", `/rooms/${roomId}/comments`, { userId, text: "First" });
}

/** Answers of the API about an organization. */
async function answersOf(service: KillableService, organization: Organization): Promise<unknown> {
  const customer = new Customer(service, organization);
  const { data } = await customer.send<{ rooms: { id: string }[] }>("GET", "/rooms");
  const [room] = data.rooms;
  const answers = await Promise.all(
    ["/organization", `/users?roomId=${room?.id}`, `/rooms/${room?.id}/comments`].map((to) =>
      customer.send("GET", to),
    ),
  );
  return [data, ...answers.map(({ status, data: answer }) => [status, answer])];
}

/** Carries out a command in this process. Throws a refusal. */
const run = (service: KillableService, ...args: readonly string[]) =>
  account({ persistTo: service.state }, ...args, "--url", service.url);

/** Starts a command that speaks to the service through the gate. */
function begin(service: KillableService, ...args: string[]) {
  const flags = ["--url", gateOf(service).url, "--persist-to", service.state, "--json"];
  const command = [path.join(ROOT, "src/cli/account.ts"), ...args, ...flags];
  const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
    });
  const ended = new Promise<{ exitCode: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once("close", (exitCode) => resolve({ exitCode, ...output }));
  });
  return { ended, kill: () => child.kill("SIGKILL") };
}

/** Kills a command while its request to this path waits, which the service never gets. */
async function killAt(service: KillableService, operation: string, ...args: string[]): Promise<void> {
  const held = gateOf(service).hold(`/operator/${operation}`);
  const command = begin(service, ...args);
  const first = await Promise.race([held.reached, command.ended]);
  expect(first).toBeUndefined(); // the command did not end before
  command.kill();
  await command.ended;
  await gateOf(service).cut();
}

/** Runs a command to its end, which must succeed. */
async function succeed(service: KillableService, ...args: string[]) {
  const { exitCode, stdout, stderr } = await begin(service, ...args).ended;
  expect([exitCode, exitCode === 0 ? "" : stderr]).toEqual([0, ""]);
  return { result: JSON.parse(stdout), stderr };
}

/** The manifests of organizations that are whole, by their IDs. */
async function manifests(): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const id of await readdir(path.join(at("backup"), "organizations"))) {
    const file = path.join(at("backup"), "organizations", id, "manifest.json");
    const text = await readFile(file, "utf8").catch(() => null);
    if (text !== null) found[id] = text;
  }
  return found;
}

/** Deletes an organization as its owner does. */
async function remove(organization: Organization): Promise<void> {
  const customer = new Customer(source, organization);
  const { data } = await customer.send<{ organization: { name: string } }>("GET", "/organization");
  const { status } = await customer.send("DELETE", "/organization", { confirm: data.organization.name });
  expect(status).toBe(200);
}

describe("a deployment", () => {
  const backUp = ["backup", "--all"];
  let created: Organization;
  let restored: readonly Organization[] = [];
  const deleted = () => nth(0);
  const failing = () => nth(1);
  const restoring = () => nth(2);

  it("is backed up by a command that is killed, while organizations are created and deleted and one fails", async () => {
    await mkdir(folderOf(failing()), { recursive: true });
    const arguments_ = [...backUp, at("backup")];
    // A folder that has something is not taken for a new backup.
    await expect(run(source, ...arguments_)).rejects.toThrow("has something else than a part");
    await rm(at("backup"), { recursive: true });
    await killAt(source, `backup/${deleted().accountId}/rows`, ...arguments_);
    await cp(path.join(at("backup"), "progress.json"), at("progress.json"));
    const afterKill = await manifests();

    await rm(folderOf(failing()), { recursive: true, force: true });
    await mkdir(folderOf(failing()), { recursive: true });
    await writeFile(path.join(folderOf(failing()), "progress.json"), "{");
    const held = gateOf(source).hold(`/operator/backup/${deleted().accountId}/objects`);
    const command = begin(source, ...arguments_);
    expect(await Promise.race([held.reached, command.ended])).toBeUndefined();
    created = await createOrganization(source.url, owner.cookie);
    await furnish(source, created);
    await remove(deleted());
    held.release();
    const { exitCode, stderr } = await command.ended;
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining("1 organization could not be backed up:"),
    ]);
    expect(stderr).toContain(`(${failing().accountId}): ${folderOf(failing())}/progress.json is damaged`);
    expect(stderr).toContain("Continuing the backup of the deployment");
    const { [failing().accountId]: _, ...kept } = afterKill;
    expect(await manifests()).toMatchObject(kept);

    const afterFailure = await manifests();
    await rm(folderOf(failing()), { recursive: true });
    const last = await succeed(source, ...arguments_);
    expect(last.result).toMatchObject({ failures: [], people: 2 });
    expect(last.stderr).toContain(`${deleted().accountId} was deleted before it was copied`);
    const whole = await manifests();
    expect(whole).toMatchObject(afterFailure);
    restored = [...organizations.filter((other) => other !== deleted()), created];
    expect(Object.keys(whole).sort()).toEqual(restored.map(({ accountId }) => accountId).sort());
    expect(await readdir(path.join(at("backup"), "organizations"))).not.toContain(deleted().accountId);
    for (const file of await readdir(folderOf(created)))
      expect(await readFile(path.join(folderOf(created), file), "utf8")).not.toContain(created.apiKey);
  });

  it("is in a folder that other commands refuse", async () => {
    const [folder, one] = [at("backup"), folderOf(created)];
    for (const [args, why] of [
      [["backup", "--all", folder], "is a complete backup already"],
      [["backup", created.accountId, folder], "is a complete backup already"],
      [["restore", folder], "is a backup of a deployment. Add --all"],
      [["restore", "--all", one], "is a backup of one organization"],
      [["restore", "--all", directory], "is no complete backup"],
    ] as const)
      await expect(run(source, ...args)).rejects.toThrow(why);
  });

  it("is not restored, and its backup not continued, by a deployment with another secret", async () => {
    const settings = { JWT_SECRET: "another-secret-than-that-of-the-backup" };
    const other = await KillableService.prepare("loader", { settings });
    try {
      const refusal = "as JWT_SECRET_PREVIOUS, deploy";
      await expect(run(other, "restore", "--all", at("backup"))).rejects.toThrow(refusal);
      expect(await other.query("SELECT id FROM people")).toEqual([]);
      await mkdir(at("begun"));
      await rename(at("progress.json"), path.join(at("begun"), "progress.json"));
      await expect(run(other, "backup", "--all", at("begun"))).rejects.toThrow(refusal);
    } finally {
      await other.dispose();
    }
  });

  const restoreAll = () => ["restore", "--all", at("backup")];

  it("leaves what is complete, and nothing else, when a restore that was killed is cancelled", async () => {
    await target.query(`INSERT INTO people VALUES ('known', 'Known', '${known.email}', 1, 1)`);
    await killAt(target, `restore/${restoring().accountId}/rows`, ...restoreAll());
    const { result } = await run(target, ...restoreAll(), "--cancel");
    const { cancelled, failures } = result as { cancelled: number; failures: unknown[] };
    expect(failures).toEqual([]);
    expect(cancelled).toBeGreaterThanOrEqual(1);
    await target.query("UPDATE accounts SET deleted_at = 1 WHERE deleted_at IS NOT NULL");
    await eventually("what was cancelled is gone", async () => {
      await target.runScheduled();
      return (await target.query("SELECT id FROM accounts WHERE deleted_at IS NOT NULL")).length === 0;
    });
    const left = await target.query<{ id: string }>("SELECT id FROM accounts");
    expect(left).not.toContainEqual({ id: restoring().accountId });
    expect(left).toContainEqual({ id: source.organization.accountId });
    expect(await target.query("SELECT account_id FROM restores")).toEqual([]);
  });

  it("is restored where it does not exist, by a command that is killed and run again", async () => {
    await killAt(target, `restore/${restoring().accountId}/objects`, ...restoreAll());
    const last = await succeed(target, ...restoreAll());
    expect(last.stderr).toContain("Continuing the restore.");
    const { existing, restored: count, failures } = last.result;
    expect([existing.length + count, failures]).toEqual([restored.length, []]);
    expect(existing).toContainEqual(expect.objectContaining({ id: source.organization.accountId }));
    for (const organization of restored)
      if (organization.accountId !== source.organization.accountId)
        expect(await answersOf(target, organization)).toEqual(await answersOf(source, organization));
    expect(await signIn(target, owner.email)).not.toBe("");
    // The person with a member's address here may be anyone: addresses are not confirmed.
    expect(await target.query("SELECT person_id FROM memberships WHERE person_id = 'known'")).toEqual([]);
  });
});
