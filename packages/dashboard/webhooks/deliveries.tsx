/** The deliveries of a webhook, newest first, updated live, of which several can be sent again. */

import type { Delivery, DeliveryAttempt } from "atrium/server";
import type { ReactNode } from "react";
import { WEBHOOK_EVENT_NAMES } from "../data/events.ts";
import { useFilters } from "../data/filters.ts";
import { useApiQuery, useCurrent } from "../data/organization.tsx";
import { allAtOnce } from "../ui/bulk-dialog.tsx";
import { CodeBlock, prettyJson } from "../ui/button.tsx";
import { ActionButton } from "../ui/dialog.tsx";
import { Badge, type BadgeProps, CausedBy, Details, Empty, Paged } from "../ui/feedback.tsx";
import { FilterSelect, FoldedFilters } from "../ui/list-filters.tsx";
import { Section } from "../ui/page.tsx";
import { type Grouping, SelectableCards } from "../ui/selectable.tsx";
import { groupEqual, sayEqual, saySpan } from "../ui/story.ts";
import { useAgreement } from "../ui/subscribers.tsx";
import { formatMs, Time } from "../ui/time.tsx";

const REFRESH_MS = 2000;
const STATUSES: readonly Delivery["status"][] = ["pending", "success", "failed"];
const TONES: Readonly<Record<Delivery["status"], BadgeProps["tone"]>> = {
  pending: "waiting",
  success: "good",
  failed: "bad",
};

/** The reason why a delivery waits or has ended, in words. */
const errorOf = ({ error, attempts, status }: Delivery): string | null =>
  error ?? (attempts === 0 && status === "pending" ? "waiting for the first try" : null);

/** Neighbours that failed, or wait, for the same reason. */
const EQUAL_ERRORS: Grouping<Delivery> = {
  groupsOf: (deliveries) => groupEqual(deliveries, errorOf),
  summaryOf: (group) => (
    <>
      <StateBadge delivery={group[0]} />
      <span className="grow">{sayEqual(group.length, errorOf(group[0]) ?? "")}</span>
      <span className="soft">
        {saySpan((group.at(-1) ?? group[0]).created_at, group[0].created_at, Date.now())}
      </span>
    </>
  ),
};

const toOptions = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, name]));

export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { webhooks } = useCurrent().atrium;
  const filters = useFilters();
  const status = STATUSES.find((one) => one === filters.get("status"));
  const event = WEBHOOK_EVENT_NAMES.find((one) => one === filters.get("event"));
  const query = { ...filters.page(), ...(status && { status }), ...(event && { event }) };
  const deliveries = useApiQuery(
    ["webhook", webhookId, "deliveries", query],
    () => webhooks.listDeliveries(webhookId, query),
    { refetchInterval: REFRESH_MS },
  );
  useAgreement({ kind: "webhooks", id: webhookId }, deliveries.data);
  const redeliver = allAtOnce(async (items: readonly Delivery[]) => {
    const ids = items.map(({ id }) => id);
    const { missing } = await webhooks.redeliverAll(webhookId, ids);
    const gone = items.filter(({ id }) => missing.includes(id));
    return new Map(gone.map((item) => [item, new Error("It is not kept any more.")]));
  });
  const empty = (
    <Empty
      filters={filters}
      title="No deliveries yet"
      create="Send the first event"
      command={["POST", `/webhooks/${webhookId}/test`]}
    >
      Every event for the endpoint is listed here with its attempts.
    </Empty>
  );
  return (
    <Section
      id="deliveries"
      title="Deliveries"
      beside={
        (filters.isNarrowed || deliveries.data?.total !== 0) && (
          <FoldedFilters isOpenAtFirst={filters.isNarrowed}>
            <FilterSelect
              label="Filter by status"
              filters={filters}
              name="status"
              all="All"
              options={toOptions(STATUSES)}
            />
            <FilterSelect
              label="Filter by event"
              filters={filters}
              name="event"
              all="All events"
              options={toOptions(WEBHOOK_EVENT_NAMES)}
            />
          </FoldedFilters>
        )
      }
    >
      <Paged query={deliveries} {...{ filters, empty }}>
        {(data) => (
          <SelectableCards
            tag="ul"
            className="records"
            cardClass={() => "selectable"}
            noun={{ one: "delivery", many: "deliveries" }}
            items={data.deliveries}
            idOf={({ id }) => id}
            nameOf={({ event: name, id }) => `${name} (${id.slice(0, 8)})`}
            selectedName={({ event: name, created_at }) => `the delivery of ${name}, ${created_at}`}
            actions={[
              {
                label: "Redeliver",
                done: "queued again",
                consequences:
                  "The receiver gets their events once more, with the same IDs, as new deliveries.",
                run: redeliver,
              },
            ]}
            refreshes={[["webhook", webhookId, "deliveries"]]}
            grouping={EQUAL_ERRORS}
          >
            {(delivery, box) => <DeliveryRow {...{ delivery, box }} />}
          </SelectableCards>
        )}
      </Paged>
    </Section>
  );
}

/** A delivery that waits for a retry is one that fails. */
const StateBadge = ({ delivery: { status, error } }: { readonly delivery: Delivery }) => (
  <Badge tone={error === null ? TONES[status] : "bad"}>
    {status === "pending" && error !== null ? "failing" : status}
  </Badge>
);

interface DeliveryRowProps {
  readonly delivery: Delivery;
  readonly box: ReactNode;
}

function DeliveryRow({ delivery, box }: DeliveryRowProps) {
  const latest = delivery.log.at(-1);
  return (
    <>
      {box}
      <Details
        summary={
          <>
            <StateBadge delivery={delivery} />
            <code>{delivery.event}</code>
            <span className="grow soft">{errorOf(delivery)}</span>
            {delivery.attempts > 1 && <span className="soft">{delivery.attempts} attempts</span>}
            {latest && <span className="soft">{formatMs(Math.round(latest.duration_ms))}</span>}
            <Time at={delivery.created_at} />
          </>
        }
      >
        <Detail delivery={delivery} />
      </Details>
    </>
  );
}

function Detail({ delivery }: { readonly delivery: Delivery }) {
  const { id, webhook_id, log, request_id, payload } = delivery;
  const { request_headers: request, response_headers: response } = log.at(-1) ?? {};
  return (
    <div className="detail">
      <Timeline delivery={delivery} />
      <CausedBy requestId={request_id} />
      {request && <CodeBlock what="Request headers" text={formatHeaders(request)} />}
      {response && <CodeBlock what="Response headers" text={formatHeaders(response)} />}
      <CodeBlock what="Payload" text={prettyJson(payload)} />
      <ActionButton
        label="Redeliver"
        variant="plain"
        act={({ webhooks }) => webhooks.redeliver(webhook_id, id)}
        options={{ toast: "Redelivery queued", refreshes: [["webhook", webhook_id, "deliveries"]] }}
      />
    </div>
  );
}

/** The attempts, oldest first, and what follows. */
const Timeline = ({ delivery: { log, status, next_retry_at } }: { readonly delivery: Delivery }) => (
  <section className="timeline-box" aria-label="Attempts">
    <ol className="timeline">
      {log.map((attempt) => (
        <AttemptEntry key={attempt.attempted_at} attempt={attempt} />
      ))}
      <li className={status === "pending" ? "waiting" : "end"}>
        <p className="soft">
          {next_retry_at !== null ? (
            <>
              Next try <Time at={next_retry_at} due="any moment" />
            </>
          ) : (
            ENDS[status]
          )}
        </p>
      </li>
    </ol>
  </section>
);

const ENDS: Readonly<Record<Delivery["status"], string>> = {
  pending: "The first try follows",
  success: "Arrived",
  failed: "No further try follows",
};

const AttemptEntry = ({ attempt }: { readonly attempt: DeliveryAttempt }) => {
  const { attempted_at, duration_ms, status_code, error_class, error, answer } = attempt;
  return (
    <li className={error_class === null ? "good" : "bad"}>
      <p>
        <strong>{status_code ?? error_class}</strong> in {formatMs(Math.round(duration_ms))}{" "}
        <Time at={attempted_at} />
      </p>
      {error !== null && <p>{error}</p>}
      {answer && <code className="answer">{answer}</code>}
    </li>
  );
};

const formatHeaders = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
