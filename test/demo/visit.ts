/** Requests to a Worker whose demo belongs to an organization. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { app } from "../../src/app.ts";
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
