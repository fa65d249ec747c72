/** Common parts of webhooks and workflows: state, metrics, and actions on several of them. */
import type { DeliveryStats as Metrics } from "atrium/server";
import { useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { type BulkAction, oneByOne } from "./bulk-dialog.tsx";
import { Badge, ErrorMessage } from "./feedback.tsx";
import { RangeSelect, rangeOf } from "./fields.tsx";
import { Section, Stats } from "./page.tsx";
import { formatMs } from "./time.tsx";

interface Subscriber {
  readonly id: string;
  readonly enabled: boolean;
}

type Kind = "webhooks" | "workflows";

export const EnabledBadge = ({ enabled }: Pick<Subscriber, "enabled">) => (
  <Badge tone={enabled ? "good" : "waiting"}>{enabled ? "enabled" : "disabled"}</Badge>
);

/** Enables a subscriber, or disables it. */
export function useEnabling(kind: Kind, { id, enabled }: Subscriber) {
  const noun = kind === "webhooks" ? "webhook" : "workflow";
  const enable = useAction(
    (atrium, next: boolean): Promise<Subscriber> => atrium[kind].update(id, { enabled: next }),
    {
      toast: (saved) => `W${noun.slice(1)} ${saved.enabled ? "enabled" : "disabled"}`,
      undo: (atrium, _, next) => atrium[kind].update(id, { enabled: !next }),
      refreshes: [[noun, id], [kind]],
      notifiesErrors: true,
    },
  );
  return { label: enabled ? "Disable" : "Enable", toggle: () => enable.mutate(!enabled) };
}

/** `consequences` say what each action does to several of them. */
export function useSubscriberActions<Item extends Subscriber>(
  kind: Kind,
  consequences: Readonly<Record<"enable" | "disable" | "delete", string>>,
): readonly BulkAction<Item>[] {
  const subscribers = useCurrent().atrium[kind];
  const set = (enabled: boolean) => (item: Item) => subscribers.update(item.id, { enabled });
  return [
    {
      label: "Enable",
      done: "enabled",
      consequences: consequences.enable,
      applies: ({ enabled }) => !enabled,
      run: oneByOne(set(true)),
      undo: set(false),
    },
    {
      label: "Disable",
      done: "disabled",
      consequences: consequences.disable,
      applies: ({ enabled }) => enabled,
      run: oneByOne(set(false)),
      undo: set(true),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences: consequences.delete,
      isDanger: true,
      run: oneByOne(({ id }) => subscribers.delete(id)),
    },
  ];
}

/** Such as "99.8 %"; rounded down, so that 100 % means all. A dash when there is none. */
export const presentShare = (share: number | null): string =>
  share === null ? "–" : `${Math.floor(share * 1000) / 10} %`;

const presentMs = (ms: number | null): string => (ms === null ? "–" : formatMs(ms));

/** Success rate below which a receiver or a program needs attention. */
const ALARMING_SHARE = 0.5;

const REFRESH_MS = 10_000;

interface DeliveryStatsProps {
  readonly of: { readonly kind: Kind; readonly id: string };
  /** The counted unit, such as "Attempts". */
  readonly counted: string;
}

export function DeliveryStats({ of: { kind, id }, counted }: DeliveryStatsProps) {
  const filters = useFilters();
  const range = rangeOf(filters);
  const { data, error, refetch } = useApiQuery(
    [kind === "webhooks" ? "webhook" : "workflow", id, "stats", range],
    (atrium): Promise<Metrics> => atrium[kind].stats(id, range),
    { refetchInterval: REFRESH_MS },
  );
  return (
    <Section id="metrics" title="Metrics" beside={<RangeSelect filters={filters} />}>
      <ErrorMessage error={error} onRetry={refetch} />
      {data && (
        <Stats
          stats={[
            { label: counted, value: data.succeeded + data.failed },
            {
              label: "Succeeded",
              value: presentShare(data.success_rate),
              isAlarming: data.success_rate !== null && data.success_rate < ALARMING_SHARE,
            },
            { label: "Median", value: presentMs(data.latency_ms.p50) },
            { label: "95th percentile", value: presentMs(data.latency_ms.p95) },
            { label: "Waiting", value: data.waiting },
          ]}
        />
      )}
    </Section>
  );
}
