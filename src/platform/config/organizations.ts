/** Where new organizations are placed, and which one has the demo. */
import { readSetting, type Settings } from "./settings.ts";

/** The bindings of the databases that new organizations are placed in; none for all. */
export const placeOrganizationsIn = (env: Settings): readonly string[] =>
  readSetting(env, "PLACE_ORGANIZATIONS_IN");

export const demoAccountId = (env: Settings): string | undefined => readSetting(env, "DEMO_ACCOUNT_ID");
