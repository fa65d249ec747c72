/** Requests to a Worker whose demo belongs to an organization. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { app } from "../../src/app.ts";
import { IdentityClaims } from "../../src/platform/token-claims.ts";
import { type Answer, freshAddress, ORIGIN } from "../support/api.ts";

/** Asks the Worker; without an organization, it has no demo. */
export async function askDemo(accountId: string | undefined, request: Request): Promise<Response> {
  const execution = createExecutionContext();
  const bindings = accountId === undefined ? env : { ...env, DEMO_ACCOUNT_ID: accountId };
  const response = await app.fetch(request, bindings, execution);
  await waitOnExecutionContext(execution);
  return response;
}

export async function answerOf<Data>(response: Response): Promise<Answer<Data>> {
  return { ...(await response.json<Answer<Data>>()), status: response.status, headers: response.headers };
}

/** Becomes a visitor. */
export async function visit(
  accountId: string | undefined,
  query: string,
  address = freshAddress(),
): Promise<Answer<{ readonly token?: string; readonly room?: string }>> {
  const headers = { "CF-Connecting-IP": address };
  const request = new Request(`${ORIGIN}/demo/visitors${query}`, { method: "POST", headers });
  return answerOf(await askDemo(accountId, request));
}

export const identityClaims = (token = ""): IdentityClaims => IdentityClaims.parse(decodeJwt(token));

/** The room that a visitor's token opens. */
export const boardOf = (token?: string): string => String(identityClaims(token).rooms?.[0] ?? "");

/** Asks below `/demo` with the token of a visitor, or with another credential about the same board. */
export async function askAs<Data>(
  accountId: string,
  token: string | undefined,
  [method, path, body]: readonly [method: string, path: string, body?: object],
  authorization = `Bearer ${token}`,
  idempotencyKey?: string,
): Promise<Answer<Data>> {
  const url = new URL(`/demo/${path}`, ORIGIN);
  if (token !== undefined) url.searchParams.set("roomId", boardOf(token));
  const headers = {
    "CF-Connecting-IP": freshAddress(),
    Authorization: authorization,
    ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
    ...(body && { "Content-Type": "application/json" }),
  };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  return answerOf(await askDemo(accountId, new Request(url, init)));
}
