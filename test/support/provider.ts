/// <reference path="./oidc-provider.d.ts" />
/** A real OpenID Connect provider on a loopback port: `oidc-provider` with a form that signs anyone in as anyone. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import type { TestProject } from "vitest/node";
import { accountOf, CLIENT } from "./provider-accounts.ts";

const FORM = `<!doctype html><title>Provider</title><form method="post">
<label>Who are you? <input name="account"></label>
<button name="do" value="sign-in">Sign in</button> <button name="do" value="cancel">Cancel</button></form>`;

/** Starts a provider whose clients may send browsers back to `origin`. */
export async function startProvider(
  origin: string,
): Promise<{ readonly issuer: string; readonly stop: () => Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { redirect_uris: [`${origin}/dashboard/oidc/callback`] };
  const provider = new Provider(issuer, {
    clients: [
      { ...client, client_id: CLIENT.id, client_secret: CLIENT.secret },
      { ...client, client_id: CLIENT.publicId, token_endpoint_auth_method: "none" },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ["of the tests"] },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...accountOf(id), sub: id }) }),
    loadExistingGrant: async ({ oidc: { provider: own, client: of, session } }) => {
      const grant = new own.Grant({ clientId: of.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on("request", async (request, response) => {
    if (request.url?.startsWith("/interaction/") !== true) return answer(request, response);
    if (request.method === "GET") return response.setHeader("Content-Type", "text/html").end(FORM);
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
    const login = { accountId: form.get("account") ?? "", remember: false };
    const result = form.get("do") === "cancel" ? { error: "access_denied" } : { login };
    return provider.interactionFinished(request, response, result);
  });
  return {
    issuer,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

declare module "vitest" {
  interface ProvidedContext {
    /** The issuer of the provider that runs beside the tests in workerd. */
    readonly issuer: string;
  }
}

/** Runs around the tests in workerd. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const { issuer, stop } = await startProvider("https://atrium.test");
  provide("issuer", issuer);
  return stop;
}
