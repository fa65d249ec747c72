/** How the service on this machine, and in tests, differs from what wrangler.toml deploys. */
import type { Settings } from "../../platform/settings.ts";

/** The bindings beside those of wrangler.toml, as Miniflare takes them: workflows run without any set-up. */
export const DEVELOPMENT_BINDINGS = { workerLoaders: { LOADER: {} } };

/** The binding PUBLIC_NETWORK: workerd checks each address that it connects to. */
export const PUBLIC_NETWORK = {
  network: { allow: ["public"], deny: [], tlsOptions: { trustBrowserCas: true } },
};

/** Settings that wrangler.toml and .dev.vars override: anyone may sign up. */
export const DEVELOPMENT_SETTINGS = { SIGN_UP: "open" };

/**
 * Mail is kept on this machine for a developer to read, unless a service for others is set up here: it has an origin of
 * its own, or says by an empty MAIL_FROM that it sends none.
 */
export const mailInDevelopment = (settings: Settings, port: number): Settings | null =>
  settings.PUBLIC_ORIGIN || settings.MAIL_FROM !== undefined
    ? null
    : { MAIL_FROM: "atrium@mail.test", MAIL_ORIGIN: `http://localhost:${port}` };

const PREFIX = "ATRIUM_";

/** The settings among the environment's variables: `ATRIUM_SIGN_UP` is SIGN_UP. They override those of every file. */
export const settingsOf = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith(PREFIX) && value !== undefined ? [[name.slice(PREFIX.length), value]] : [],
    ),
  );
