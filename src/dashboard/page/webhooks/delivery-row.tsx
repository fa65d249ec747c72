/** A delivery: its status and, when expanded, its attempts and payload. */
import type { Delivery, DeliveryAttempt } from "atrium/server";
import { useState } from "react";
import type { Selection } from "../data/use-selection.ts";
import { Button } from "../ui/button.tsx";
import { CodeBlock, prettyJson } from "../ui/copy.tsx";
import { Badge, type BadgeProps, CausedBy } from "../ui/feedback.tsx";
import { SelectBox } from "../ui/select-box.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { useRedeliver } from "./use-deliveries.ts";

const TONES: Readonly<Record<Delivery["status"], BadgeProps["tone"]>> = {
  pending: "waiting",
  success: "good",
  failed: "bad",
};

export interface DeliveryRowProps {
  readonly delivery: Delivery;
  readonly selection: Selection<Delivery>;
}

export function DeliveryRow({ delivery, selection }: DeliveryRowProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="selectable" data-selected={selection.has(delivery.id) || undefined}>
      <SelectBox
        selection={selection}
        id={delivery.id}
        name={`the delivery of ${delivery.event}, ${delivery.created_at}`}
      />
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Badge tone={TONES[delivery.status]}>{delivery.status}</Badge>
          <code>{delivery.event}</code>
          <span className="grow soft">{delivery.error}</span>
          <span className="soft">{formatAttempts(delivery.attempts)}</span>
          <Time at={delivery.created_at} />
        </summary>
        {isOpen && <Detail delivery={delivery} />}
      </details>
    </li>
  );
}

const formatAttempts = (count: number): string => (count === 1 ? "1 attempt" : `${count} attempts`);

function Detail({ delivery }: { readonly delivery: Delivery }) {
  const redeliver = useRedeliver(delivery.webhook_id, delivery.id);
  return (
    <div className="detail">
      {delivery.next_retry_at && (
        <p>
          Next retry <Time at={delivery.next_retry_at} />.
        </p>
      )}
      {delivery.log.length > 0 && (
        <Table label="Attempts" columns={["Time", "Duration", "Status", "Error", "Response"]}>
          {delivery.log.map((attempt) => (
            <Attempt key={attempt.attempted_at} attempt={attempt} />
          ))}
        </Table>
      )}
      <CausedBy requestId={delivery.request_id} />
      <AttemptHeaders attempt={delivery.log.at(-1)} />
      <CodeBlock what="Payload" text={prettyJson(delivery.payload)} />
      <Button isBusy={redeliver.isPending} onClick={() => redeliver.mutate()}>
        Redeliver
      </Button>
    </div>
  );
}

/** Those of the latest attempt. */
function AttemptHeaders({ attempt }: { readonly attempt: DeliveryAttempt | undefined }) {
  const { request_headers: request, response_headers: response } = attempt ?? {};
  return (
    <>
      {request && <CodeBlock what="Request headers" text={formatHeaders(request)} />}
      {response && <CodeBlock what="Response headers" text={formatHeaders(response)} />}
    </>
  );
}

const formatHeaders = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

const Attempt = ({ attempt }: { readonly attempt: DeliveryAttempt }) => (
  <tr>
    <td>
      <Time at={attempt.attempted_at} />
    </td>
    <td className="number">{Math.round(attempt.duration_ms)} ms</td>
    <td>{attempt.status_code ?? "–"}</td>
    <td>{attempt.error_class === null ? "–" : `${attempt.error_class}: ${attempt.error}`}</td>
    <td className="json">
      <code>{attempt.answer}</code>
    </td>
  </tr>
);
