/** The microphones and loudspeakers to choose from, as the browser lists them. */

export type DeviceKind = "audioinput" | "audiooutput";

export interface Device {
  kind: DeviceKind;
  id: string;
  name: string;
  is_used: boolean;
}

/**
 * What can be chosen.
 *
 * A browser lists devices without names or ids until the microphone is allowed, and most list no
 * loudspeakers at all: what cannot be told apart cannot be chosen.
 *
 * @param listed as `enumerateDevices` gives them
 * @param used   the ids in use, by kind
 */
export function choices(
  listed: readonly Pick<MediaDeviceInfo, "kind" | "deviceId" | "label">[],
  used: Partial<Record<DeviceKind, string | undefined>>,
): Device[] {
  return listed
    .filter(({ deviceId, label }) => deviceId !== "" && label !== "")
    .flatMap(({ kind, deviceId, label }) =>
      kind === "videoinput"
        ? []
        : [{ kind, id: deviceId, name: label, is_used: used[kind] === deviceId }],
    );
}

export const ofKind = (devices: readonly Device[], kind: DeviceKind): Device[] =>
  devices.filter((device) => device.kind === kind);
