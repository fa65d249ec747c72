/** Names that every JavaScript object has by itself are ordinary keys in requests, or are refused. */
import { expect, it } from "vitest";
import { Inbox } from "../inbox/support.ts";
import { joinWith } from "../room/support/join.ts";
import { type Api, account, refusalOf } from "../support/api.ts";

const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty"];

/** A body in which the name is a key of its own, as JSON has it. */
const sendRecord = (api: Api, method: string, path: string, body: string) =>
  api.send(method, path, { body, headers: { "Content-Type": "application/json" } });

it.each(NAMES)("%s is refused where keys are IDs or kinds, with the field", async (name) => {
  const inbox = await Inbox.create();
  const { api } = inbox.owner;
  const room = await inbox.room();
  const key = JSON.stringify(name);
  const settings = `/identities/${inbox.identityId}/notification-settings`;
  const refused: [method: string, path: string, body: string, field: string][] = [
    ["PUT", `/rooms/${room}/access`, `{"groupsAccesses":{${key}:"editor"}}`, "groupsAccesses"],
    ["PUT", `/rooms/${room}/access`, `{"identitiesAccesses":{${key}:["none"]}}`, "identitiesAccesses"],
    ["PUT", `/rooms/${room}/access`, `{${key}:"editor"}`, name],
    ["PATCH", settings, `{"email":{"kinds":{${key}:false}}}`, "email.kinds"],
    ["PATCH", "/notification-defaults", `{"webPush":{"kinds":{${key}:false}}}`, "webPush.kinds"],
  ];
  for (const [method, path, body, field] of refused) {
    const answer = await sendRecord(api, method, path, body);
    expect([path, body, answer.status, answer.error?.code]).toEqual([path, body, 400, "VALIDATION_ERROR"]);
    expect(answer.error?.message).toContain(field === name ? name : `${field}.${name}`);
  }
});

it.each(NAMES)("%s is an ordinary key of what users and applications write", async (name) => {
  const inbox = await Inbox.create();
  const { api } = inbox.owner;
  const room = await inbox.room();
  const { id: userId } = await api.createUser(room);
  const content = `{${JSON.stringify(name)}:{"a":1}}`;
  const entry = `/rooms/${room}/stores/${name}/${name}`;
  expect((await sendRecord(api, "PUT", entry, `{"value":${content}}`)).status).toBe(200);
  expect((await sendRecord(api, "PATCH", entry, `{"value":{"b":2}}`)).status).toBe(200);
  // The test's own schemas would leave it out of what they have checked.
  const read = async (path: string) => (await api.raw("GET", path)).text();
  expect(await read(`/rooms/${room}/stores/${name}`)).toContain(
    `{"${name}":{"value":{"${name}":{"a":1},"b":2}`,
  );
  const comment = await sendRecord(
    api,
    "POST",
    `/rooms/${room}/comments`,
    `{"text":"Hi","userId":"${userId}","metadata":${content}}`,
  );
  expect(JSON.stringify(comment.data)).toContain(`"metadata":${content}`);
  const trigger = `{"identityId":"${inbox.identityId}","kind":"$a","subjectId":"b","data":${content}}`;
  expect((await sendRecord(api, "POST", "/inbox-notifications/trigger", trigger)).status).toBe(200);
  expect(await read(`/identities/${inbox.identityId}/inbox-notifications`)).toContain(`"data":${content}`);
  const participant = `/rooms/${room}/participants/${userId}`;
  expect((await sendRecord(api, "PUT", participant, `{"presence":${content}}`)).status).toBe(200);
  expect(await read(`/rooms/${room}/presence`)).toContain(`${JSON.stringify(name)}:{"a":1}`);
});

it("a room of that name in the settings of an identity is refused, as zod would leave it out", async () => {
  const inbox = await Inbox.create();
  const path = `/identities/${inbox.identityId}/notification-settings`;
  const answer = await sendRecord(inbox.owner.api, "PATCH", path, `{"email":{"rooms":{"__proto__":false}}}`);
  expect(refusalOf(answer)).toEqual([400, "Inbox", "VALIDATION_ERROR"]);
});

it.each(NAMES)("%s names no user to follow", async (name) => {
  const { id: accountId, api } = await account();
  const room = await api.createRoom();
  const { token } = await api.createUser(room.id);
  const { socket } = await joinWith(accountId, room.id, token);
  expect((await socket.call("USER_FOLLOW", { userId: name })).error?.code).toBe("NOT_FOUND");
  socket.close();
});
