/** The settings of a deployment, and the configuration that they make of wrangler.toml. `npm run deployment` deploys it. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import type { Unstable_RawConfig as Config } from "wrangler";
import { mergeConfig, readSettings } from "../../../src/cli/deployment-config.ts";
import { CommandError } from "../../../src/cli/process/command.ts";
import { ROOT } from "./processes.ts";

const tracked = parse(await readFile(path.join(ROOT, "wrangler.toml"), "utf8")) as Config;
const example = await readFile(path.join(ROOT, "atrium.example.toml"), "utf8");

const merge = (toml: string, earlier?: Config["vars"]): Config =>
  mergeConfig(tracked, readSettings(toml, {}), earlier);

describe("settings", () => {
  it("of the example are all comments, and valid without the number sign", () => {
    expect(readSettings(example, {})).toEqual(new Map());
    const named = readSettings(example.replace(/^# (?=[A-Z_]+ = )/gm, ""), {});
    expect([...named.keys()]).toContain("DOMAIN");
    expect(named.size).toBe(example.match(/^# [A-Z_]+ = /gm)?.length);
  });

  it("are overridden by variables with the prefix ATRIUM_, and other variables are none", () => {
    const environment = { ATRIUM_SIGN_UP: "open", ATRIUM_DOMAIN: "rooms.example", HOME: "/" };
    expect(Object.fromEntries(readSettings('SIGN_UP = "invite"\nQUOTA_ROOMS = 5000', environment))).toEqual({
      SIGN_UP: "open",
      QUOTA_ROOMS: "5000",
      DOMAIN: "rooms.example",
    });
  });

  it.each([
    [
      '\nSIGNUP = "open"',
      "atrium.toml, line 2: SIGNUP is no setting: docs/guides/deploying.md, Settings, lists them.",
    ],
    [
      '[vars]\nSIGN_UP = "open"',
      "atrium.toml, line 1: vars is no setting: docs/guides/deploying.md, Settings, lists them.",
    ],
    [
      'SIGN_UP_DOMAINS = ""\nSIGN_UP = "all"',
      'atrium.toml, line 2: SIGN_UP must be "open", "invite" or "domains".',
    ],
    ["SIGN_UP_DOMAINS = 5", "atrium.toml, line 1: SIGN_UP_DOMAINS must be text in quotes."],
    ["METRICS = true", "atrium.toml, line 1: METRICS must be text or a whole number."],
    ['METRICS = "yes"', 'atrium.toml, line 1: METRICS must be "on" or "off".'],
    ["DATABASES = 0", "atrium.toml, line 1: DATABASES must be a whole number from 1 to 99."],
    [
      'DOMAIN = "https://rooms.example"',
      "atrium.toml, line 1: DOMAIN must be a host name, such as atrium.example.",
    ],
    [
      'SIGN_UP = "open"\nSIGN_UP_DOMAINS = ""\nJWT_SECRET = "x"',
      "atrium.toml, line 3: JWT_SECRET is a secret, which `npx wrangler secret put JWT_SECRET` stores.",
    ],
    [
      'COPY_TO = "http://copies.example/atrium"',
      "atrium.toml, line 1: COPY_TO must be the https: address of a bucket, such as https://s3.eu-west-1.amazonaws.com/copies.",
    ],
    [
      'DATABASE_NAMES = "Atrium"',
      "atrium.toml, line 1: DATABASE_NAMES must be names of databases, comma-separated: lower-case letters, digits, hyphens and underscores.",
    ],
    ['DATABASES = 2\nDATABASE_NAMES = "a, b, c"', "DATABASE_NAMES has 3 names, but DATABASES is 2."],
    ['DATABASE_NAMES = "a, b"', "DATABASE_NAMES has 2 names, but DATABASES is 1."],
    ['COPY_TO = "https://copies.example/a"', "COPY_TO needs COPY_ACCESS_KEY_ID: set both, or neither."],
    ['OIDC_ISSUER = "https://a.example"', "OIDC_ISSUER needs OIDC_CLIENT_ID: set both, or neither."],
    ['OIDC_ONLY = "on"', "OIDC_ONLY needs OIDC_ISSUER: set both, or neither."],
    ['CLIENT_ADDRESS = ""', "atrium.toml, line 1: CLIENT_ADDRESS is for a service on one machine only."],
  ])("refuses %j, and names the line", (toml, message) => {
    expect(() => readSettings(toml, {})).toThrow(new CommandError(message));
  });

  it("refuses what is no TOML, and a variable, in one sentence", () => {
    expect(() => readSettings('DOMAIN = "a.example"\nSIGN_UP = open', {})).toThrow(
      /^atrium\.toml, line 2: [^\n]+\.$/,
    );
    expect(() => readSettings("", { ATRIUM_WORKFLOWS: "yes" })).toThrow(
      new CommandError('ATRIUM_WORKFLOWS: WORKFLOWS must be "worker-loader", "dispatch-namespace" or "off".'),
    );
  });
});

describe("the configuration", () => {
  it("without settings is that of wrangler.toml, under workers.dev", () => {
    expect(merge("")).toEqual({ ...tracked, workers_dev: true, vars: {} });
    expect(tracked).toMatchObject({ keep_vars: true, observability: { logs: { invocation_logs: false } } });
  });

  it("names everything that holds data after the Worker: two deployments share none", () => {
    const config = merge('NAME = "rooms"\nDATABASES = 3\nMETRICS = "on"\nWORKFLOWS = "dispatch-namespace"');
    expect(config).toMatchObject({
      name: "rooms",
      d1_databases: [
        { binding: "DB", database_name: "rooms" },
        { binding: "DB_2", database_name: "rooms-2", migrations_dir: "migrations" },
        { binding: "DB_3", database_name: "rooms-3" },
      ],
      r2_buckets: [{ binding: "FILES", bucket_name: "rooms-files" }],
      analytics_engine_datasets: [{ binding: "METRICS", dataset: "rooms" }],
      dispatch_namespaces: [{ binding: "DISPATCHER", namespace: "rooms-workflows" }],
      vars: { WORKFLOWS_NAMESPACE: "rooms-workflows" },
    });
  });

  it("takes databases of other names, in order, whatever the Worker is called", () => {
    const namesIn = (toml: string) => merge(toml).d1_databases?.map(({ database_name }) => database_name);
    expect(namesIn('DATABASE_NAMES = "atrium-restored"')).toEqual(["atrium-restored"]);
    const two = 'NAME = "rooms"\nDATABASES = 2\n';
    expect(namesIn(`${two}DATABASE_NAMES = "atrium-restored, atrium-b"`)).toEqual([
      "atrium-restored",
      "atrium-b",
    ]);
    expect(namesIn(`${two}DATABASE_NAMES = "atrium-restored"`)).toEqual(["atrium-restored", "rooms-2"]);
    expect(namesIn(`${two}DATABASE_NAMES = ""`)).toEqual(["rooms", "rooms-2"]);
    expect(() => namesIn(`${two}DATABASE_NAMES = "rooms-2"`)).toThrow(
      new CommandError("Two databases have the name rooms-2: change DATABASE_NAMES."),
    );
  });

  it("serves a domain, as its origin, beside workers.dev until that is turned off", () => {
    const domain = 'DOMAIN = "rooms.example"\nOWN_HOSTS = "atrium.me.workers.dev"';
    expect(merge(domain)).toMatchObject({
      routes: [{ pattern: "rooms.example", custom_domain: true }],
      workers_dev: true,
      vars: { PUBLIC_ORIGIN: "https://rooms.example", OWN_HOSTS: "rooms.example,atrium.me.workers.dev" },
    });
    expect(merge(`${domain}\nWORKERS_DEV = "off"`)).toMatchObject({
      workers_dev: false,
      preview_urls: false,
    });
    const origin = { PUBLIC_ORIGIN: "https://www.example" };
    expect(merge(`${domain}\nPUBLIC_ORIGIN = "https://www.example"`)).toMatchObject({ vars: origin });
  });

  it("binds mail for its sender, and one way to run workflows", () => {
    expect(merge('MAIL_FROM = "atrium@example.com"')).toMatchObject({
      send_email: [{ name: "MAIL", allowed_sender_addresses: ["atrium@example.com"] }],
      vars: { MAIL_FROM: "atrium@example.com" },
    });
    expect(merge('WORKFLOWS = "worker-loader"').worker_loaders).toEqual([{ binding: "LOADER" }]);
    expect(merge('WORKFLOWS = "off"\nMETRICS = "off"\nMAIL_FROM = ""')).toEqual({
      ...merge(""),
      vars: { MAIL_FROM: "" },
    });
  });

  it("has no bucket without files, and the account that is chosen", () => {
    const account = "0123456789abcdef0123456789abcdef";
    const config = merge(`FILES = "off"\nCLOUDFLARE_ACCOUNT_ID = "${account}"`);
    expect(config).toEqual({ ...merge(""), r2_buckets: [], account_id: account });
    expect(merge('FILES = "on"')).toEqual(merge(""));
  });

  it("has no limits, which the free plan refuses, and declares all classes at once", () => {
    expect(merge("")).not.toHaveProperty("limits");
    const classes = tracked.durable_objects?.bindings?.map(({ class_name }) => class_name);
    expect(merge("").migrations).toEqual([
      { tag: "v1", new_sqlite_classes: expect.arrayContaining(classes ?? []) },
    ]);
  });

  it("empties a variable that is no longer set: the Worker would keep it", () => {
    expect(merge("", { SIGN_UP: "open" }).vars).toEqual({ SIGN_UP: "" });
    expect(merge('SIGN_UP = "domains"', { SIGN_UP: "open" }).vars).toEqual({ SIGN_UP: "domains" });
  });
});
