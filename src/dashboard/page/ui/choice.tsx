/** A checkbox with its label. */
import { Checkbox } from "@base-ui/react/checkbox";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

export interface ChoiceProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly children: ReactNode;
}

export const Choice = ({ isOn, onChange, children }: ChoiceProps) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox is a control
  <label className="choice">
    <Checkbox.Root className="checkbox" checked={isOn} onCheckedChange={onChange}>
      <Checkbox.Indicator className="checkbox-mark">
        <Icon name="check" />
      </Checkbox.Indicator>
    </Checkbox.Root>
    {children}
  </label>
);
