/** Where objects are: in the jurisdiction of the deployment, or near its location. */
import { env } from "cloudflare:workers";
import type { Me } from "@atrium/contract/rest/people.ts";
import { expect, it } from "vitest";
import { openObject } from "../../src/platform/objects/rpc.ts";
import { readSetting } from "../../src/platform/settings.ts";
import { answerOf, freshEmail, PASSWORD, pageRequest } from "../support/person.ts";

const KINDS = [
  "ROOMS",
  "SUBSCRIBERS",
  "EVENT_LOGS",
  "REQUEST_LOGS",
  "REQUEST_RATES",
  "GUESS_LIMITS",
  "INBOXES",
] as const;

/** Objects that are in a jurisdiction only. workerd has none, so the test stands in for Cloudflare there. */
const inJurisdiction = (objects: DurableObjectNamespace, jurisdiction: string, opened: string[]) =>
  ({
    getByName: () => {
      throw new Error("Opened outside of the jurisdiction");
    },
    jurisdiction: (asked: string) => {
      expect(asked).toBe(jurisdiction);
      return {
        getByName: (name: string) => {
          opened.push(name);
          return objects.getByName(name);
        },
      };
    },
  }) as unknown as DurableObjectNamespace;

it("a deployment in a jurisdiction opens objects there only", async () => {
  const opened: string[] = [];
  const spaces = KINDS.map((kind) => [kind, inJurisdiction(env[kind], "eu", opened)] as const);
  const bindings = {
    ...{ JURISDICTION: "eu", REQUEST_LOG: "on" },
    ...Object.fromEntries(spaces),
  };
  const body = { name: "Ada", email: freshEmail(), password: PASSWORD };
  const signedUp = await answerOf<Me>(bindings, pageRequest("POST", "/dashboard/api/sign-up", body));
  expect(signedUp.status).toBe(201);
  const id = signedUp.data.organizations[0]?.id ?? "";
  const Cookie = signedUp.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const ask = <Data>(method: string, path: string, content?: object, REQUEST_QUOTA = "off") =>
    answerOf<Data>(
      { ...bindings, REQUEST_QUOTA },
      pageRequest(method, `/v1/accounts/${id}${path}`, content, { Cookie }),
    );
  const { data } = await ask<{ room: { id: string } }>("POST", "/rooms", { name: "Boards" });
  expect((await ask("GET", `/rooms/${data.room.id}`)).status).toBe(200);
  expect((await ask("GET", "/events", undefined, "on")).status).toBe(200);
  expect((await ask("GET", "/requests")).status).toBe(200);
  const identity = await ask<{ identity: { id: string } }>("POST", "/identities", { name: "Bo" });
  const inbox = await ask("GET", `/identities/${identity.data.identity.id}/sent-notifications`);
  expect([identity.status, inbox]).toMatchObject([201, { status: 200 }]);
  expect(opened).toEqual(expect.arrayContaining([data.room.id, id, `${id}:0`]));
});

it("a location is a hint for objects that are created", () => {
  const asked: unknown[] = [];
  const objects = {
    getByName: (...args: unknown[]) => asked.push(args),
  } as unknown as DurableObjectNamespace;
  openObject({ LOCATION: "weur" }, objects, "room");
  openObject({}, objects, "room");
  expect(asked).toEqual([
    ["room", { locationHint: "weur" }],
    ["room", undefined],
  ]);
});

it.each([
  ["LOCATION", "mars", 'must be "wnam", "enam", "weur", "eeur", "apac" or "oc"'],
  ["JURISDICTION", "EU", 'must be "eu", "us" or "fedramp"'],
] as const)("%s refuses %j, and is automatic when it is empty", (name, value, problem) => {
  expect(() => readSetting({ [name]: value }, name)).toThrow(problem);
  expect(readSetting({ [name]: "" }, name)).toBeUndefined();
});
