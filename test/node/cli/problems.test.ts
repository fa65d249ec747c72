/** When `npm start` cannot start, it prints one line that names the cause, and exits with a nonzero code. */
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makePrivateFolder, makeWritableFolder } from "../../../src/cli/process/folder.ts";
import { lockStateFolder } from "../../../src/cli/service/reservation.ts";
import { type Checkout, copyCheckout } from "./checkout.ts";
import { type Finished, findFreePort, runCli } from "./processes.ts";
import { sharedService } from "./shared-service.ts";

const folder = await mkdtemp(path.join(tmpdir(), "atrium-problems-"));

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts with this state folder; `runCli` bounds how long that may take. */
async function failWith(persistTo: string, root?: string): Promise<Finished> {
  const port = String(await findFreePort());
  return runCli("start.ts", ["--port", port, "--persist-to", persistTo], root);
}

const oneLine = (stderr: string): Finished => ({ exitCode: 1, stdout: "", stderr: `${stderr}\n` });

describe("a state folder", () => {
  it("that is a file is refused", async () => {
    const file = path.join(folder, "file");
    await writeFile(file, "");
    expect(await failWith(file)).toEqual(
      oneLine(`Cannot write to the folder ${file}: it is a file, not a folder (EEXIST).`),
    );
    const below = path.join(file, "state");
    const reason = "a part of its path is a file, not a folder (ENOTDIR)";
    await expect(makePrivateFolder(below)).rejects.toThrow(`Cannot write to the folder ${below}: ${reason}.`);
  });

  it.each(["/proc/x", "/proc/x/y", "/sys/x"])("that cannot be made is refused, even for root: %s", (place) =>
    expect(makePrivateFolder(place)).rejects.toThrow(
      /^Cannot write to the folder \/(proc|sys)\/x(\/y)?: .+ \(E[A-Z]+\)\.$/,
    ),
  );

  it("that this user may not write to is refused", async () => {
    const closed = path.join(folder, "closed");
    await mkdir(closed);
    await chmod(closed, 0o500);
    // Root may write anywhere, so as root use a folder that no one can write to.
    const target = process.getuid?.() === 0 ? "/sys" : closed;
    await expect(makeWritableFolder(target)).rejects.toThrow(
      /^Cannot write to the folder \S+: (permission denied|the file system is read-only) \(E[A-Z]+\)\.$/,
    );
  });

  it("in use by another service is refused, and its holder is named", async () => {
    const { persistTo, pid, port } = await sharedService();
    const { exitCode, stdout, stderr } = await failWith(persistTo);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(
      new RegExp(
        `^Atrium already runs on the state folder ${persistTo}: process ${pid}, port ${port}, since [-0-9]+T\\S+Z\\. ` +
          "Stop it first, or give the new one a state folder of its own: npm start -- --port \\d+ --persist-to DIR\n$",
      ),
    );
  });

  it("without a usable lock file is refused", async () => {
    const odd = path.join(folder, "odd");
    await mkdir(path.join(odd, "lock.sqlite"), { recursive: true });
    await expect(lockStateFolder(odd, 8787)).rejects.toThrow(
      `Cannot lock ${path.join(odd, "lock.sqlite")}: unable to open database file.`,
    );
  });
});

describe("a checkout", () => {
  let checkout: Checkout;
  beforeAll(async () => {
    checkout = await copyCheckout();
  });
  afterAll(() => checkout?.remove());

  it("whose .dev.vars is a folder is refused", async () => {
    await mkdir(checkout.at(".dev.vars"));
    const state = path.join(folder, "state");
    expect(await failWith(state, checkout.root)).toEqual(
      oneLine(`Cannot read ${checkout.at(".dev.vars")}: it is a folder, not a file (EISDIR).`),
    );
    await rm(checkout.at(".dev.vars"), { recursive: true });
  });

  it("whose .dev.vars cannot be read is refused, and keeps its secrets", async () => {
    const file = checkout.at(".dev.vars");
    const secret = "JWT_SECRET=0123456789012345678901234567890123456789\n";
    await writeFile(file, secret);
    // Root may read any file, so as root use one that is too large for it.
    const isRoot = process.getuid?.() === 0;
    await (isRoot ? truncate(file, 3 * 1024 ** 3) : chmod(file, 0o200));
    const reason = isRoot ? "it is too large (ERR_FS_FILE_TOO_LARGE)" : "permission denied (EACCES)";
    expect(await failWith(path.join(folder, "state"), checkout.root)).toEqual(
      oneLine(`Cannot read ${file}: ${reason}.`),
    );
    await (isRoot ? truncate(file, secret.length) : chmod(file, 0o600));
    expect(await readFile(file, "utf8")).toBe(secret);
    await rm(file);
  });

  it("in which no bundles can be written is refused", async () => {
    await writeFile(
      checkout.at(".dev.vars"),
      "JWT_SECRET=0123456789012345678901234567890123456789\nVAPID_PRIVATE_KEY=\nWEBHOOK_DEV_TARGETS=\n",
    );
    await symlink("/sys", checkout.at(".wrangler"));
    const { exitCode, stdout, stderr } = await failWith(path.join(folder, "state"), checkout.root);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^Cannot write to the folder \S+\/\.wrangler\/worker: .+ \(E[A-Z]+\)\.\n$/);
    await rm(checkout.at(".wrangler"));
  });
});

it("a port that is in use is refused before anything is written", async () => {
  const port = await findFreePort();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const untouched = path.join(folder, "untouched");
  const result = await runCli("start.ts", ["--port", String(port), "--persist-to", untouched]);
  await new Promise((resolve) => server.close(resolve));
  expect(result).toEqual(
    oneLine(
      `Port ${port} is in use. Stop the program that uses it, or choose another port: npm start -- --port ${port + 1}`,
    ),
  );
  await expect(stat(untouched)).rejects.toThrow("ENOENT");
});

it.each(["--nope", "--port=0", "--port=65536", "--port=8e3", "--persist-to=", "extra"])(
  "%s is answered with the usage line",
  async (argument) => {
    expect(await runCli("start.ts", [argument])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "Usage: npm start -- [--port 1-65535] [--host NAME] [--persist-to DIR]\n",
    });
  },
);

it.each([
  [
    "start.ts",
    "Usage: npm start -- [--port 1-65535] [--host NAME] [--persist-to DIR]\n\nServes Atrium on this machine",
  ],
  ["account.ts", "Usage: npm run account -- create NAME"],
])("%s explains itself when it is asked for help", async (command, beginning) => {
  const { exitCode, stdout, stderr } = await runCli(command, ["--help"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toContain(beginning);
});
