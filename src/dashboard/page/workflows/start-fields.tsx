/** The fields of what starts a workflow beside events: its schedule, and requests to it. */
import { Choice, TextField } from "../ui/fields.tsx";
import type { Fields } from "./draft-fields.ts";

export interface StartFieldsProps extends Pick<Fields, "schedule" | "httpTrigger"> {
  readonly onChange: (part: Partial<StartFieldsProps>) => void;
}

/** The person's own time zone. */
const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function StartFields({ schedule, httpTrigger, onChange }: StartFieldsProps) {
  const write = (cron: string, timezone: string) =>
    onChange({ schedule: cron === "" ? null : { cron, timezone } });
  return (
    <>
      <TextField
        label="Schedule"
        name="schedule.cron"
        maxLength={100}
        placeholder="0 9 * * 1-5"
        value={schedule?.cron ?? ""}
        hint="Minute, hour, day, month and weekday, as in a crontab. Empty for none."
        onChange={(event) => write(event.currentTarget.value, schedule?.timezone ?? ownZone())}
      />
      {schedule !== null && (
        <TextField
          label="Time zone"
          name="schedule.timezone"
          required
          maxLength={64}
          value={schedule.timezone}
          onChange={(event) => write(schedule.cron, event.currentTarget.value)}
        />
      )}
      <fieldset className="field choices">
        <legend>Requests</legend>
        <Choice isOn={httpTrigger} onChange={(isOn) => onChange({ httpTrigger: isOn })}>
          <span>HTTP trigger</span>
          <span className="soft small">A signed request starts the workflow</span>
        </Choice>
      </fieldset>
    </>
  );
}
