/** A date input that bounds a list. */
export interface DateFilterProps {
  readonly label: string;
  /** Such as `2026-01-31`; empty for no bound. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export const DateFilter = ({ label, value, onChange }: DateFilterProps) => (
  <label className="date-filter">
    <span className="soft">{label}</span>
    <input
      type="date"
      className="input"
      defaultValue={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  </label>
);
