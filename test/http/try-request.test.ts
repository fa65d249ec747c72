/** Requests that readers of the API reference try: to the operation that they chose, with the credential that they chose. */
import { describe, expect, it } from "vitest";
import {
  buildRequest,
  describeRequest,
  type Filled,
  keyBearer,
  Unfinished,
} from "../../src/docs/browser/try-request.ts";

const SESSION = { accountId: "acme", bearer: null };
const path = (name: string, value: string): Filled => ({ name, in: "path", value });
const ENTRY = "/v1/accounts/{accountId}/rooms/{roomId}/stores/{store}/{key}";

describe("a tried request", () => {
  it("has each value in its place, and no fields that are empty", () => {
    const fields = [
      path("roomId", "1"),
      path("store", "my tasks"),
      path("key", "a/b?c"),
      { name: "limit", in: "query", value: "20" },
      { name: "after", in: "query", value: "" },
      { name: "Idempotency-Key", in: "header", value: "once" },
      { name: "body", in: "body", value: '{ "value": 1 }' },
    ];
    expect(buildRequest("PUT", ENTRY, fields, SESSION)).toEqual({
      method: "PUT",
      path: "/v1/accounts/acme/rooms/1/stores/my%20tasks/a%2Fb%3Fc?limit=20",
      headers: { "Content-Type": "application/json", "Idempotency-Key": "once" },
      body: '{ "value": 1 }',
    });
  });

  it("reaches no other operation, and says which field is wrong", () => {
    const build = (key: string, body = "") =>
      buildRequest(
        "PUT",
        ENTRY,
        [
          path("roomId", "1"),
          path("store", "tasks"),
          path("key", key),
          { name: "body", in: "body", value: body },
        ],
        SESSION,
      );
    expect(() => build("..")).toThrow("key must not be “..”.");
    expect(() => build("")).toThrow(new Unfinished("key is missing."));
    expect(() => build("x", "{")).toThrow("The body is not JSON.");
  });

  it("carries an API key with its organization, and shows no credential", () => {
    const credential = { accountId: "acme", bearer: keyBearer("acme", "kéy") };
    const request = buildRequest("DELETE", "/v1/accounts/{accountId}/tokens", [], credential);
    expect(Buffer.from(credential.bearer, "base64").toString()).toBe("acme:kéy");
    expect(request.headers).toEqual({ Authorization: `Bearer ${credential.bearer}` });
    expect(describeRequest(request)).toBe("DELETE /v1/accounts/acme/tokens\nAuthorization: Bearer …");
  });

  it("is a form where the operation takes one", () => {
    const file = new File(["x"], "plan.png");
    const { body, headers, ...request } = buildRequest(
      "POST",
      "/v1/accounts/{accountId}/upload",
      [
        { name: "roomId", in: "form", value: "1" },
        { name: "file", in: "form", value: file },
      ],
      SESSION,
    );
    expect(headers).toEqual({});
    expect(body instanceof FormData && [...body.keys()]).toEqual(["roomId", "file"]);
    expect(describeRequest({ ...request, headers, body })).toBe(
      "POST /v1/accounts/acme/upload\n\nroomId: 1\nfile: plan.png",
    );
  });
});
