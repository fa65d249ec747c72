/** What can be done with several webhooks. */
import type { Webhook } from "atrium/server";
import { useCurrent } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import type { BulkAction } from "../ui/bulk-action.ts";

/** What can be done with several webhooks. */
export function useWebhookActions(): readonly BulkAction<Webhook>[] {
  const { webhooks } = useCurrent().atrium;
  return [
    {
      label: "Enable",
      done: "enabled",
      consequences: "They receive events again.",
      applies: ({ enabled }) => !enabled,
      run: oneByOne(({ id }) => webhooks.update(id, { enabled: true })),
    },
    {
      label: "Disable",
      done: "disabled",
      consequences: "They receive no events until they are enabled again.",
      applies: ({ enabled }) => enabled,
      run: oneByOne(({ id }) => webhooks.update(id, { enabled: false })),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences:
        "Their pending deliveries are cancelled and their histories deleted. This cannot be undone.",
      isDanger: true,
      run: oneByOne(({ id }) => webhooks.delete(id)),
    },
  ];
}
