/** Checkboxes to choose one or more events. */
import { Checkbox } from "@base-ui/react/checkbox";
import type { EventName } from "atrium/server";
import { EVENT_NAMES, EVENTS } from "../data/events.ts";
import { Icon } from "./icon.tsx";

export interface EventChoiceProps {
  readonly chosen: readonly EventName[];
  readonly onChange: (chosen: readonly EventName[]) => void;
}

export const EventChoice = ({ chosen, onChange }: EventChoiceProps) => (
  <fieldset className="field choices">
    <legend>Events</legend>
    {EVENT_NAMES.map((name) => (
      // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox is a control
      <label key={name} className="choice">
        <Checkbox.Root
          className="checkbox"
          checked={chosen.includes(name)}
          onCheckedChange={(isOn) =>
            onChange(EVENT_NAMES.filter((one) => (one === name ? isOn : chosen.includes(one))))
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
