/**
 * A call over LiveKit: joins the room with the microphone and tells the screen what happens.
 *
 * Only the agent that has the call is believed: data, words and states of other participants are
 * ignored.
 */

import {
  ConnectionError,
  ConnectionErrorReason,
  DefaultReconnectPolicy,
  DisconnectReason,
  type LocalAudioTrack,
  ParticipantKind,
  type RemoteParticipant,
  Room,
  RoomEvent,
  type TextStreamReader,
  Track,
  TrackEvent,
  createLocalAudioTrack,
} from "livekit-client";

import { turnKey } from "./call";
import { type HeardGap, Pairing } from "./heard";
import { Hearing, type Side } from "./hearing";
import { tellNetwork } from "./network";
import { type Problem, addressProblem, microphoneProblem } from "./problems";
import { type DeviceKind, choices } from "./devices";
import type { Action, Screen } from "./screen";
import { Snapshots } from "./snapshots";
import { TOPIC, isOfOtherVersion, readEvent } from "./timeline";

/** What the page's server gives for one call. */
export interface Pass {
  url: string;
  token: string;
  /** Whether the worker answered the page's server; null where it cannot tell. */
  worker_ready: boolean | null;
}

const STATE_ATTRIBUTE = "lk.agent.state";
const ON_BEHALF_ATTRIBUTE = "lk.publish_on_behalf"; // an avatar's participant, which has no call
const TRANSCRIPTION_TOPIC = "lk.transcription";
const CHAT_TOPIC = "lk.chat";

const ABSENT_AFTER_MS = { worker_down: 4_000, otherwise: 12_000 };
const SILENT_AFTER_MS = 15_000;
const GONE_AFTER_MS = 15_000;
const RECONNECT_AFTER_MS = [0, 300, 1_200, 2_700, 4_800, 7_000]; // longer, and people hang up
const GOODBYE_MS = 3_000; // for the last sound and the agent's own leaving, after call_ended

export class Session {
  private room: Room | null = null;
  private agent: RemoteParticipant | null = null;
  private snapshots: Snapshots | null = null;
  private microphone: LocalAudioTrack | null = null;
  private hearing: Hearing | null = null;
  private pairing = new Pairing();
  private stopTelling = (): void => undefined;
  /** The devices that the caller chose; the system's own where nothing was. */
  private readonly chosen: Partial<Record<DeviceKind, string>> = {};
  /** Counts calls begun and ended, so that what an abandoned one still brings is dropped. */
  private attempt = 0;
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();

  /**
   * @param dispatch takes what happens to the screen
   * @param screen   the screen as it now is
   * @param sound    where the elements that play the agent go
   */
  constructor(
    private readonly dispatch: (action: Action) => void,
    private readonly screen: () => Screen,
    private readonly sound: Node,
  ) {}

  /** The sound of one side, to show the level of; null where there is none yet. */
  track(side: Side): MediaStreamTrack | null {
    if (side === "guest") return this.microphone?.mediaStreamTrack ?? null;
    const publications = [...(this.agent?.audioTrackPublications.values() ?? [])];
    return publications.find(({ track }) => track)?.track?.mediaStreamTrack ?? null;
  }

  /**
   * Calls the hotel.
   *
   * The pass is asked for after the microphone: a caller may think about the browser's question
   * for longer than a token lives.
   */
  async start(withMicrophone: boolean, requestPass: () => Promise<Pass | Problem>): Promise<void> {
    const attempt = ++this.attempt;
    const abandoned = (): boolean => attempt !== this.attempt;
    this.dispatch({ type: "call_pressed", microphone: withMicrophone });
    const opened = withMicrophone ? await openMicrophone(this.chosen.audioinput) : null;
    if (abandoned()) return isProblem(opened) ? undefined : opened?.stop();
    if (isProblem(opened)) return this.fail(opened);
    this.microphone = opened;
    this.watchDevices();
    if (opened) this.listen();

    const pass = await requestPass();
    if (abandoned()) return;
    if (isProblem(pass)) return this.fail(pass);
    const unreachable = addressProblem(window.location, pass.url);
    if (unreachable) return this.fail(unreachable);

    this.dispatch({ type: "joining" });
    const room = this.newRoom();
    try {
      await room.connect(pass.url, pass.token);
      if (this.microphone) await room.localParticipant.publishTrack(this.microphone);
    } catch (error) {
      return abandoned() ? undefined : this.fail(connectionProblem(error, pass.url));
    }
    if (abandoned()) return;
    this.dispatch({ type: "joined", at: Date.now() });
    const here = [...room.remoteParticipants.values()].find(hasTheCall);
    if (here) this.adopt(here);
    else this.expectAgent(pass);
    void room.startAudio().catch(() => undefined); // told by AudioPlaybackStatusChanged
    if (this.chosen.audiooutput)
      void room.switchActiveDevice("audiooutput", this.chosen.audiooutput).catch(() => undefined);
  }

  /** Hears the gaps that the caller hears; without a microphone there is nothing to time. */
  private listen(): void {
    this.pairing = new Pairing();
    this.hearing = new Hearing(
      (side) => this.track(side),
      (gap) => {
        const turn = this.pairing.heard(gap);
        if (turn !== null) this.dispatch({ type: "gap_heard", turn, gap_ms: gap.gap_ms });
      },
    );
  }

  /** The agent told of an answer: whose gap that was, if it was heard. */
  private answered(turn: number): void {
    const key = turnKey(this.screen().legs.length - 1, turn);
    const gap: HeardGap | null = this.pairing.answered(key, Date.now());
    if (gap) this.dispatch({ type: "gap_heard", turn: key, gap_ms: gap.gap_ms });
  }

  /** Another microphone or loudspeaker, from now on and for the next call. */
  async choose(kind: DeviceKind, id: string): Promise<void> {
    this.chosen[kind] = id;
    try {
      if (kind === "audioinput") await this.microphone?.setDeviceId(id);
      else await this.room?.switchActiveDevice(kind, id);
    } catch {
      // It was pulled out between the list and the choice; the old one goes on.
    }
    await this.listDevices();
  }

  private watchDevices(): void {
    navigator.mediaDevices?.addEventListener("devicechange", this.listDevices);
    void this.listDevices();
  }

  private readonly listDevices = async (): Promise<void> => {
    const found = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
    this.dispatch({ type: "devices", devices: choices(found, this.current()) });
  };

  private current(): Partial<Record<DeviceKind, string | undefined>> {
    return {
      audioinput: this.microphone?.mediaStreamTrack.getSettings().deviceId,
      audiooutput: this.chosen.audiooutput ?? "default",
    };
  }

  hangUp(): void {
    this.finish(null);
  }

  async setMuted(muted: boolean): Promise<void> {
    await (muted ? this.microphone?.mute() : this.microphone?.unmute());
    this.dispatch({ type: "muted", muted });
  }

  async type(text: string): Promise<void> {
    if (!this.room) return;
    this.dispatch({ type: "typed", id: `typed.${this.screen().typed.length}`, text });
    await this.room.localParticipant.sendText(text, { topic: CHAT_TOPIC });
  }

  async allowSound(): Promise<void> {
    await this.room?.startAudio();
  }

  /** Leaves without a word: the page is going away. */
  close(): void {
    this.release();
  }

  private newRoom(): Room {
    const room = new Room({ reconnectPolicy: new DefaultReconnectPolicy(RECONNECT_AFTER_MS) });
    this.room = room;
    // An old room may still speak after a new call has begun.
    const current =
      <A extends unknown[]>(listener: (...heard: A) => void) =>
      (...heard: A): void => {
        if (this.room === room) listener(...heard);
      };
    room
      .on(
        RoomEvent.ParticipantConnected,
        current((one) => hasTheCall(one) && this.adopt(one)),
      )
      .on(
        RoomEvent.ParticipantDisconnected,
        current((one) => this.left(one)),
      )
      .on(
        RoomEvent.ParticipantAttributesChanged,
        current((_, one) => {
          if (one.identity === this.agent?.identity)
            this.dispatch({ type: "agent_state", state: one.attributes[STATE_ATTRIBUTE] ?? null });
        }),
      )
      .on(
        RoomEvent.DataReceived,
        current((payload, from, _kind, topic) => {
          if (topic === TOPIC && from) this.timeline(payload, from);
        }),
      )
      .on(
        RoomEvent.TrackSubscribed,
        current((track, _publication, from) => {
          if (track.kind !== Track.Kind.Audio || !from.isAgent) return;
          this.sound.appendChild(track.attach());
          this.stopTelling();
          this.stopTelling = tellNetwork(room, from.identity, track);
        }),
      )
      .on(RoomEvent.TrackUnsubscribed, (track) => track.detach().forEach((one) => one.remove()))
      .on(
        RoomEvent.AudioPlaybackStatusChanged,
        current(() => this.dispatch({ type: "sound_blocked", blocked: !room.canPlaybackAudio })),
      )
      .on(
        RoomEvent.Reconnecting,
        current(() => this.reconnecting(true)),
      )
      .on(
        RoomEvent.SignalReconnecting,
        current(() => this.reconnecting(true)),
      )
      .on(
        RoomEvent.Reconnected,
        current(() => {
          this.reconnecting(false);
          void this.snapshots?.fetch(); // what was published meanwhile is not sent again
        }),
      )
      .on(
        RoomEvent.Disconnected,
        current((reason) => this.finish(disconnectProblem(reason, this.screen()))),
      );
    room.registerTextStreamHandler(TRANSCRIPTION_TOPIC, (reader, { identity }) => {
      if (this.room === room && room.remoteParticipants.get(identity)?.isAgent)
        void this.words(reader);
    });
    this.microphone?.on(
      TrackEvent.Ended, // of whichever device it is by then
      current(() => this.dispatch({ type: "microphone_lost" })),
    );
    return room;
  }

  private adopt(agent: RemoteParticipant): void {
    if (this.agent?.identity === agent.identity) return;
    if (this.agent) return; // one agent has the call; another may take over when it leaves
    this.agent = agent;
    this.cancel("absent");
    this.cancel("gone");
    const state = agent.attributes[STATE_ATTRIBUTE] ?? null;
    this.dispatch({ type: "agent_joined", agent: agent.identity, state, at: Date.now() });
    this.snapshots = new Snapshots(this.room!, agent.identity, this.dispatch, this.screen);
    void this.snapshots.fetch();
    this.after("silent", SILENT_AFTER_MS, () => {
      const { call, words, problem } = this.screen();
      const silent = words.length === 0 && call.turns.every((turn) => turn.spoken.length === 0);
      if (silent && !problem && call.activity !== "speaking")
        this.dispatch({ type: "noticed", problem: { code: "agent_silent" } });
    });
  }

  private left(participant: RemoteParticipant): void {
    if (participant.identity !== this.agent?.identity) return;
    this.agent = null;
    this.snapshots = null;
    this.cancel("silent");
    if (this.screen().call.ended !== null) return this.finish(this.farewell());
    this.dispatch({ type: "agent_left" });
    this.after("gone", GONE_AFTER_MS, () => this.finish({ code: "agent_gone" }));
    const other = [...(this.room?.remoteParticipants.values() ?? [])].find(hasTheCall);
    if (other) this.adopt(other);
  }

  private timeline(payload: Uint8Array, from: RemoteParticipant): void {
    if (from.identity !== this.agent?.identity) return;
    const line = new TextDecoder().decode(payload);
    const event = readEvent(line);
    if (!event) {
      if (isOfOtherVersion(line))
        this.dispatch({ type: "noticed", problem: { code: "other_version" } });
      return;
    }
    this.dispatch({ type: "events", agent: from.identity, events: [event] });
    void this.snapshots?.fill();
    if (event.type === "agent_speaking" && event.gap_ms !== null) this.answered(event.turn);
    if (event.type === "call_ended")
      this.after("goodbye", GOODBYE_MS, () => this.finish(this.farewell()));
  }

  /** Why the agent ended the call, if not because it was over. */
  private farewell(): Problem | null {
    return this.screen().call.ended === "error" ? { code: "agent_failed" } : null;
  }

  private async words(reader: TextStreamReader): Promise<void> {
    const segment = reader.info.attributes?.["lk.segment_id"] ?? reader.info.id;
    let text = "";
    try {
      for await (const chunk of reader) {
        text += chunk;
        this.dispatch({ type: "words", segment, text, final: false });
      }
    } finally {
      // A stream that broke off has said what it said.
      if (text !== "") this.dispatch({ type: "words", segment, text, final: true });
    }
  }

  private expectAgent({ worker_ready }: Pass): void {
    const down = worker_ready === false;
    this.after("absent", down ? ABSENT_AFTER_MS.worker_down : ABSENT_AFTER_MS.otherwise, () =>
      this.dispatch({
        type: "noticed",
        problem: { code: worker_ready ? "agent_busy" : "agent_absent" },
      }),
    );
  }

  private reconnecting(reconnecting: boolean): void {
    this.dispatch({ type: "reconnecting", reconnecting });
  }

  private fail(problem: Problem): void {
    this.release();
    this.dispatch({ type: "failed", problem, at: Date.now() });
  }

  private finish(problem: Problem | null): void {
    this.release();
    this.dispatch({ type: "ended", problem, at: Date.now() });
  }

  private release(): void {
    this.attempt += 1;
    void this.room?.disconnect();
    this.stopTelling();
    this.hearing?.close();
    this.hearing = null;
    navigator.mediaDevices?.removeEventListener("devicechange", this.listDevices);
    this.microphone?.stop();
    this.microphone = null;
    this.room = null;
    this.agent = null;
    this.snapshots = null;
    for (const name of [...this.timers.keys()]) this.cancel(name);
  }

  private after(name: string, delay_ms: number, act: () => void): void {
    this.cancel(name);
    this.timers.set(name, setTimeout(act, delay_ms));
  }

  private cancel(name: string): void {
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
  }
}

const isProblem = (answer: object | null): answer is Problem => answer !== null && "code" in answer;

const hasTheCall = (participant: RemoteParticipant): boolean =>
  participant.kind === ParticipantKind.AGENT && !(ON_BEHALF_ATTRIBUTE in participant.attributes);

async function openMicrophone(device: string | undefined): Promise<LocalAudioTrack | Problem> {
  if (!window.isSecureContext || !navigator.mediaDevices) return { code: "microphone_insecure" };
  try {
    return await createLocalAudioTrack({
      ...(device === undefined ? {} : { deviceId: device }), // wished for, not insisted on
      autoGainControl: true,
      echoCancellation: true,
      noiseSuppression: true,
    });
  } catch (error) {
    return microphoneProblem(error instanceof Error ? error.name : "");
  }
}

function connectionProblem(error: unknown, server: string): Problem {
  const reason = error instanceof ConnectionError ? error.reason : null;
  if (reason === ConnectionErrorReason.NotAllowed)
    return { code: "room_server_refuses_key", detail: server };
  // The signal went through before the media was tried.
  if (error instanceof ConnectionError && /pc connection|peer connection/i.test(error.message))
    return { code: "media_blocked", detail: server };
  return { code: "room_unreachable", detail: server };
}

function disconnectProblem(reason: DisconnectReason | undefined, screen: Screen): Problem | null {
  switch (reason) {
    case DisconnectReason.CLIENT_INITIATED:
    case DisconnectReason.ROOM_DELETED:
    case DisconnectReason.ROOM_CLOSED:
    case DisconnectReason.PARTICIPANT_REMOVED:
    case DisconnectReason.USER_REJECTED:
      return null;
    case DisconnectReason.DUPLICATE_IDENTITY:
      return { code: "elsewhere" };
    default:
      return screen.call.ended !== null ? null : { code: "connection_lost" };
  }
}
