/** The steps of `npm run deploy`, as they ask wrangler to do them. `npm run deployment` tries them with wrangler itself. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { buildOnly, describePlan } from "../../src/cli/deployment/plan.ts";
import { ensureDatabases, missingSecrets, publish } from "../../src/cli/deployment/steps.ts";
import { CommandError } from "../../src/cli/process/command.ts";
import type { Wrangler } from "../../src/cli/process/wrangler.ts";

const NAMES = { worker: "atrium", databases: ["atrium", "atrium-2"], bucket: "atrium-files" };

/** Answers as wrangler does, and notes the commands. */
const answering = (answers: Record<string, string | Error>) => {
  const commands: string[] = [];
  const wrangler: Wrangler = async (args) => {
    commands.push(args.join(" "));
    const [, answer = ""] =
      Object.entries(answers).find(([command]) => args.join(" ").startsWith(command)) ?? [];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { commands, wrangler };
};

describe("each database", () => {
  it("is created when there is none of its name, and then kept", async () => {
    const first = answering({ "d1 list": '[{"name":"another"}]' });
    expect(await ensureDatabases(first.wrangler, NAMES)).toEqual(["atrium", "atrium-2"]);
    expect(first.commands).toEqual(["d1 list --json", "d1 create atrium", "d1 create atrium-2"]);
    const later = answering({ "d1 list": '[{"name":"atrium-2"},{"name":"atrium"}]' });
    expect(await ensureDatabases(later.wrangler, NAMES)).toEqual([]);
    expect(later.commands).toEqual(["d1 list --json"]);
  });
});

describe("JWT_SECRET", () => {
  it("is made for a Worker that lacks it or does not exist, and never replaced", async () => {
    const listing = (answer: string | Error) => missingSecrets(answering({ "secret list": answer }).wrangler);
    const missing = new CommandError(
      "wrangler failed: This Worker does not exist on your account. [code: 10007]",
    );
    for (const answer of ["[]", '[{"name":"TURNSTILE_SECRET_KEY"}]', missing]) {
      expect(await listing(answer)).toEqual({ JWT_SECRET: expect.stringMatching(/^[\w-]{43}$/) });
    }
    expect(await listing('[{"name":"JWT_SECRET"}]')).toEqual({});
    const refused = new CommandError("wrangler failed: Authentication error [code: 10000]");
    await expect(listing(refused)).rejects.toBe(refused);
  });
});

describe("publishing", () => {
  it("passes secrets in a file that only its owner reads and that is gone afterwards, and returns the addresses", async () => {
    const seen: { file: string; mode: number; content: string; command: string }[] = [];
    const wrangler: Wrangler = async (args, env = {}) => {
      const file = args[args.indexOf("--secrets-file") + 1] ?? "";
      const { mode } = await stat(file);
      seen.push({ file, mode: mode & 0o777, content: await readFile(file, "utf8"), command: args.join(" ") });
      const report = {
        type: "deploy",
        targets: ["https://atrium.example.workers.dev", "schedule: * * * * *"],
      };
      await writeFile(
        env.WRANGLER_OUTPUT_FILE_PATH ?? "",
        `{"type":"wrangler-session"}\n${JSON.stringify(report)}\n`,
      );
      return "";
    };
    expect(await publish(wrangler, { JWT_SECRET: "a secret" })).toEqual([
      "https://atrium.example.workers.dev",
    ]);
    expect(seen).toMatchObject([{ mode: 0o600, content: '{"JWT_SECRET":"a secret"}' }]);
    expect(seen[0]?.command).not.toContain("a secret");
    await expect(stat(seen[0]?.file ?? "")).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("a dry run", () => {
  const plan = { names: NAMES, organization: "Acme", migrations: ["0000_a.sql", "0001_b.sql"], runners: [] };

  it("builds the Worker and asks Cloudflare nothing", async () => {
    const { commands, wrangler } = answering({ deploy: "…\nTotal Upload: 1234.5 KiB / gzip: 345.6 KiB\n…" });
    expect(await buildOnly(wrangler)).toBe("1234.5 KiB / gzip: 345.6 KiB");
    expect(commands).toEqual(["deploy --minify --dry-run"]);
  });

  it("says what would be created, applied and published, and what workflows lack", () => {
    const text = describePlan(plan, "1 KiB");
    expect(text).toContain(
      "the databases atrium, atrium-2, the bucket atrium-files and the secret JWT_SECRET",
    );
    expect(text).toContain("2 migrations, up to 0001_b.sql");
    expect(text).toContain("the Worker atrium (1 KiB)");
    expect(text).toContain("Workflows would not run: ");
    expect(describePlan({ ...plan, runners: ["LOADER"] }, null)).toContain("Workflows run by LOADER.");
  });
});
