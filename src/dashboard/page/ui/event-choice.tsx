/** Checkboxes to choose one or more events. */
import type { WebhookEventName } from "atrium/server";
import { EVENTS } from "../data/events.ts";
import { Choice } from "./choice.tsx";

export interface EventChoiceProps<Name extends WebhookEventName> {
  /** What there is to choose from. */
  readonly names: readonly Name[];
  readonly chosen: readonly Name[];
  readonly onChange: (chosen: readonly Name[]) => void;
}

export const EventChoice = <Name extends WebhookEventName>({
  names,
  chosen,
  onChange,
}: EventChoiceProps<Name>) => (
  <fieldset className="field choices">
    <legend>Events</legend>
    {names.map((name) => (
      <Choice
        key={name}
        isOn={chosen.includes(name)}
        onChange={(isOn) => onChange(names.filter((one) => (one === name ? isOn : chosen.includes(one))))}
      >
        <code>{name}</code>
        <span className="soft small">{EVENTS[name]}</span>
      </Choice>
    ))}
  </fieldset>
);
