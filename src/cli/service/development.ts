/** How the service on this machine, and in tests, differs from what wrangler.toml deploys. */

/** The bindings beside those of wrangler.toml, as Miniflare takes them: workflows run without any set-up. */
export const DEVELOPMENT_BINDINGS = { workerLoaders: { LOADER: {} } };

/** Settings that wrangler.toml and .dev.vars override: anyone may sign up. */
export const DEVELOPMENT_SETTINGS = { SIGN_UP: "open" };

const PREFIX = "ATRIUM_";

/** The settings among the environment's variables: `ATRIUM_SIGN_UP` is SIGN_UP. They override those of every file. */
export const settingsOf = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith(PREFIX) && value !== undefined ? [[name.slice(PREFIX.length), value]] : [],
    ),
  );
