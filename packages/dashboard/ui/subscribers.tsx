/** Common parts of webhooks and workflows: their state in words, their attempts over time, and actions on several of them. */
import { useQueryClient } from "@tanstack/react-query";
import type { DeliveryStats as Metrics } from "atrium/server";
import { type ReactNode, useEffect, useRef } from "react";
import { useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent, useKey } from "../data/organization.tsx";
import { type BulkAction, oneByOne } from "./bulk-dialog.tsx";
import { Badge, type BadgeProps, ErrorMessage } from "./feedback.tsx";
import { RangeSelect, rangeOf } from "./list-filters.tsx";
import { Section } from "./page.tsx";
import { type Attempts, type Kind, type Story, storyOf } from "./story.ts";
import { Strip } from "./strip.tsx";
import { useTick } from "./time.tsx";

const NOUNS = { webhooks: "webhook", workflows: "workflow" } as const;

interface Subscriber {
  readonly id: string;
  readonly enabled: boolean;
}

interface StateBadgeProps extends Pick<Subscriber, "enabled"> {
  readonly isFailing?: boolean;
}

export const StateBadge = ({ enabled, isFailing = false }: StateBadgeProps) => {
  if (!enabled) return <Badge tone="waiting">disabled</Badge>;
  return isFailing ? <Badge tone="bad">failing</Badge> : <Badge tone="good">enabled</Badge>;
};

/** Enables a subscriber, or disables it. */
export function useEnabling(kind: Kind, { id, enabled }: Subscriber) {
  const noun = NOUNS[kind];
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

/** Such as "4 of 6". A dash when there is none. */
export function presentSuccesses({ succeeded, failed }: Pick<Metrics, "succeeded" | "failed">): string {
  const all = succeeded + failed;
  if (all === 0) return "–";
  return `${succeeded.toLocaleString("en")} of ${all.toLocaleString("en")}`;
}

const REFRESH_MS = 10_000;

interface Of {
  readonly kind: Kind;
  readonly id: string;
}

/** The attempts of a time, read again and again. */
const useStats = ({ kind, id }: Of, range: Metrics["range"]) =>
  useApiQuery(
    [NOUNS[kind], id, "stats", range],
    (atrium): Promise<Metrics> => atrium[kind].stats(id, range),
    { refetchInterval: REFRESH_MS },
  );

/** Reads a subscriber and its stats again once `shown` of its attempts is another, so that both say the same. */
export function useAgreement({ kind, id }: Of, shown: unknown): void {
  const key = useKey();
  const queries = useQueryClient();
  const before = useRef(shown);
  useEffect(() => {
    const isFirst = before.current === undefined;
    if (before.current === shown) return;
    before.current = shown;
    if (isFirst) return;
    void queries.invalidateQueries({ queryKey: key(NOUNS[kind], id), exact: true });
    void queries.invalidateQueries({ queryKey: key(NOUNS[kind], id, "stats") });
  }, [key, queries, kind, id, shown]);
}

/** The state of a webhook or workflow; undefined until it is known. */
export function useStory(
  kind: Kind,
  subscriber: Subscriber & { readonly disabled_reason?: string | undefined },
) {
  const { data: attempts } = useStats({ kind, id: subscriber.id }, "24h");
  useTick(attempts?.failing ? 1_000 : REFRESH_MS);
  return attempts && { attempts, story: storyOf(kind, subscriber, attempts, Date.now()) };
}

const TONES: Readonly<Record<Story["state"], BadgeProps["tone"]>> = {
  failing: "bad",
  disabled: "waiting",
  going: "good",
  quiet: "plain",
  new: "plain",
};

interface StatusLineProps {
  readonly known: { readonly story: Story; readonly attempts: Attempts } | undefined;
  /** Buttons and links that help in this state. */
  readonly children?: ReactNode;
}

/** The state in words. The line keeps its place until the state is known. */
export const StatusLine = ({ known, children }: StatusLineProps) => (
  <section className={`status-line ${known ? TONES[known.story.state] : "plain"}`} aria-label="Status">
    {known && (
      <p>
        <strong>{known.story.title}</strong> {known.story.text}
      </p>
    )}
    {known && children && <div className="actions">{children}</div>}
  </section>
);

/** The attempts of a chosen time as bars. */
export function Activity(of: Of) {
  const filters = useFilters();
  const { data, error, refetch } = useStats(of, rangeOf(filters));
  return (
    <Section id="activity" title="Activity" beside={<RangeSelect filters={filters} />}>
      <ErrorMessage error={error} onRetry={refetch} />
      {data && <Strip kind={of.kind} stats={data} />}
    </Section>
  );
}
