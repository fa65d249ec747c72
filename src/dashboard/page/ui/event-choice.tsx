/** Checkboxes to choose one or more events. */
import { Checkbox } from "@base-ui/react/checkbox";
import type { WebhookEventName } from "atrium/server";
import { EVENTS } from "../data/events.ts";
import { Icon } from "./icon.tsx";

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
      // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox is a control
      <label key={name} className="choice">
        <Checkbox.Root
          className="checkbox"
          checked={chosen.includes(name)}
          onCheckedChange={(isOn) =>
            onChange(names.filter((one) => (one === name ? isOn : chosen.includes(one))))
          }
        >
          <Checkbox.Indicator className="checkbox-mark">
            <Icon name="check" />
          </Checkbox.Indicator>
        </Checkbox.Root>
        <code>{name}</code>
        <span className="soft small">{EVENTS[name]}</span>
      </label>
    ))}
  </fieldset>
);
