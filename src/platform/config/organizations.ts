/** Where new organizations are placed, and which one has the demo. */
import { readSetting, type Settings } from "./settings.ts";

export const placeOrganizationsIn = (env: Settings): readonly string[] =>
  readSetting(env, "PLACE_ORGANIZATIONS_IN");

export const demoAccountId = (env: Settings): string | undefined => readSetting(env, "DEMO_ACCOUNT_ID");
