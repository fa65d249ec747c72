/** The names of operations in the logs. */
import { expect, it } from "vitest";
import { operationName } from "../../src/dashboard/page/logs/operation-name.ts";

it.each([
  ["deleteRoom", "Delete room"],
  ["rotateWebhookSecret", "Rotate webhook secret"],
  ["createApiKey", "Create API key"],
])("%s is shown as %s", (operation, shown) => {
  expect(operationName(operation)).toBe(shown);
});
