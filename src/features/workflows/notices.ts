/** The mail to owners about a workflow: that the service has disabled it. */
import { nameInMail } from "../mail/name-in-mail.ts";
import type { Notice } from "../mail/notices.ts";
import { DISABLED_MESSAGES } from "./schema.ts";
import type { DisabledReason, RunnableWorkflow } from "./table.ts";

export const disabledNotice = (
  { id, name }: Pick<RunnableWorkflow, "id" | "name">,
  eventId: string,
  reason: DisabledReason,
  now: number,
): Notice => ({
  ...{ id: eventId, topic: `workflow ${id} disabled`, now, page: `/workflows/${id}` },
  subject: "a workflow was disabled",
  paragraphs: [`The service has disabled the workflow ${nameInMail(name)}.`, DISABLED_MESSAGES[reason]],
});
