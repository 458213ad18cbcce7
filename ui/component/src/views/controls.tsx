import { useState } from "preact/hooks";

import { type Device, type DeviceKind, ofKind } from "../devices";
import type { Screen } from "../screen";
import type { Session } from "../session";
import { DevicesIcon, HangUpIcon, MicrophoneIcon, MutedIcon, PhoneIcon, SendIcon } from "./icons";

interface Props {
  screen: Screen;
  session: Session;
  start(microphone: boolean): void;
}

/** Mute, type, hang up; or, after a call, call again. */
export function Controls({ screen, session, start }: Props) {
  if (screen.phase === "ended")
    return (
      <div class="controls">
        <button class="primary" onClick={() => start(true)}>
          <PhoneIcon />
          Call again
        </button>
      </div>
    );
  return (
    <div class="controls">
      {screen.microphone && <MuteButton screen={screen} session={session} />}
      {screen.devices.length > 0 && <Devices screen={screen} session={session} />}
      <TypeInstead session={session} disabled={screen.phase !== "talking"} />
      <button class="hang-up" onClick={() => session.hangUp()}>
        <HangUpIcon />
        Hang up
      </button>
    </div>
  );
}

export function MuteButton({ screen, session }: { screen: Screen; session: Session }) {
  return (
    <button
      class="round"
      aria-pressed={screen.muted}
      aria-label={screen.muted ? "Unmute the microphone" : "Mute the microphone"}
      title={screen.muted ? "Unmute" : "Mute"}
      onClick={() => void session.setMuted(!screen.muted)}
    >
      {screen.muted ? <MutedIcon /> : <MicrophoneIcon />}
    </button>
  );
}

/** Which microphone and which loudspeaker: opened when wanted, closed with Escape or a choice. */
function Devices({ screen, session }: { screen: Screen; session: Session }) {
  const [open, setOpen] = useState(false);
  const kinds: [DeviceKind, string, Device[]][] = [
    ["audioinput", "Microphone", screen.microphone ? ofKind(screen.devices, "audioinput") : []],
    ["audiooutput", "Loudspeaker", ofKind(screen.devices, "audiooutput")],
  ];
  return (
    <div class="devices" onKeyDown={({ key }) => key === "Escape" && setOpen(false)}>
      <button
        class="round"
        aria-expanded={open}
        aria-label="Choose microphone and loudspeaker"
        title="Microphone and loudspeaker"
        onClick={() => setOpen(!open)}
      >
        <DevicesIcon />
      </button>
      {open && (
        <div class="card choice" role="group" aria-label="Devices">
          {kinds.map(
            ([kind, name, devices]) =>
              devices.length > 0 && (
                <label key={kind}>
                  <span>{name}</span>
                  <select
                    value={devices.find(({ is_used }) => is_used)?.id ?? ""}
                    onChange={({ currentTarget }) => void session.choose(kind, currentTarget.value)}
                  >
                    {devices.map(({ id, name }) => (
                      <option key={id} value={id}>
                        {name}
                      </option>
                    ))}
                  </select>
                </label>
              ),
          )}
        </div>
      )}
    </div>
  );
}

function TypeInstead({ session, disabled }: { session: Session; disabled: boolean }) {
  const [text, setText] = useState("");
  const send = (event: Event): void => {
    event.preventDefault();
    if (text.trim() === "") return;
    void session.type(text.trim());
    setText("");
  };
  return (
    <form class="typing" onSubmit={send}>
      <input
        type="text"
        value={text}
        maxLength={500}
        disabled={disabled}
        aria-label="Type instead of talking"
        placeholder="Type instead"
        autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button class="send" aria-label="Send" disabled={disabled || text.trim() === ""}>
        <SendIcon />
      </button>
    </form>
  );
}
