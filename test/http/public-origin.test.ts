/** Which origin the service takes for its own: that of the setting, or else that of each request. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { type Account, account } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { addMember } from "../support/person.ts";

const PUBLIC_ORIGIN = "https://atrium.public.dev";
/** How a client reaches the service that has its own idea of the host. */
const REACHED_AT = "https://attacker.example";
const CONFIGURED = { ...env, PUBLIC_ORIGIN, OWN_HOSTS: "atrium.me.workers.dev,www.public.dev" };

interface Answer {
  readonly status: number;
  readonly data: { readonly url?: string; readonly members?: readonly object[] };
  readonly error: { readonly code: string; readonly message: string } | null;
}

async function send(
  { id, api }: Account,
  path: string,
  body: object,
  { settings = CONFIGURED, headers = {} }: { settings?: typeof env; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const authorization = "Cookie" in headers ? {} : { Authorization: api.authorization ?? "" };
  const request = new Request(`${REACHED_AT}/v1/accounts/${id}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...authorization, ...headers },
    body: JSON.stringify(body),
  });
  const response = await app.fetch(request, settings, createExecutionContext());
  return { ...(await response.json<Answer>()), status: response.status };
}

describe("with PUBLIC_ORIGIN,", () => {
  it("links begin with it, whatever host a request names", async () => {
    const { data } = await send(await account(), "/invitations", {});
    expect(data.url).toMatch(/^https:\/\/atrium\.public\.dev\/dashboard\/invitations\//);
  });

  it("a member makes changes from its pages, and from no others", async () => {
    const owner = await account();
    const { browser } = await addMember(owner.id);
    const from = (origin: string) =>
      send(owner, "/rooms", { name: "A room" }, { headers: { Cookie: browser.cookie, Origin: origin } });
    expect((await from(PUBLIC_ORIGIN)).status).toBe(201);
    const refused = await from(REACHED_AT);
    expect([refused.status, refused.error?.message]).toEqual([403, expect.stringContaining(PUBLIC_ORIGIN)]);
  });

  it.each(["", "atrium", "https://atrium.example/path", "ftp://atrium.example"])(
    "%j is no origin",
    async (origin) => {
      const answer = await send(
        await account(),
        "/invitations",
        {},
        {
          settings: { ...CONFIGURED, PUBLIC_ORIGIN: origin },
        },
      );
      if (origin === "") {
        expect(answer.data.url).toMatch(new RegExp(`^${REACHED_AT}/`));
        return;
      }
      expect(answer.status).toBe(500);
      expectLogged("The setting PUBLIC_ORIGIN must be an origin such as https://atrium.example");
    },
  );
});

describe("a webhook", () => {
  it.each([
    ["PUBLIC_ORIGIN", "atrium.public.dev"],
    ["OWN_HOSTS", "ATRIUM.me.workers.dev."],
    ["OWN_HOSTS", "www.public.dev:8443"],
  ])("cannot lead back to the service under a name of %s", async (_, host) => {
    const body = { url: `https://${host}/v1`, events: ["user.created"] };
    const { status, error } = await send(await account(), "/webhooks", body);
    expect([status, error?.message]).toEqual([400, "url: must not lead back to this service"]);
  });

  it("may lead to another name of the same domain", async () => {
    const body = { url: "https://hooks.public.dev/v1", events: ["user.created"] };
    expect((await send(await account(), "/webhooks", body)).status).toBe(201);
  });
});
