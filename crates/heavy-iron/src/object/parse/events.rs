//! Events of Battle for Bikini Bottom by their numbers. Other games number
//! theirs differently.

use hpimount_assets::view::edit::number_named;

/// Returns the name of an event.
pub fn event_name(number: u16) -> Option<&'static str> {
    EVENTS.get(usize::from(number)).copied()
}

/// Returns the number of an event.
///
/// # Errors
/// Returns an error with similar names for an unknown one.
pub fn event_number(name: &str) -> Result<u32, String> {
    number_named("event", name, (0..).zip(EVENTS))
}

#[rustfmt::skip]
const EVENTS: [&str; 541] = [
    "Unknown", "Enable", "Disable", "Visible", "Invisible", "EnterPlayer", "ExitPlayer",
    "TouchPlayer", "ControlOff", "ControlOn", "Reset", "Increment", "Decrement", "Open",
    "Close", "Toggle", "TeleportPlayer", "OutOfBounds", "Run", "Stop", "Expired", "Move",
    "Destroy", "Pause", "Play", "PlayOne", "PlayMaybe", "RoomStart", "Invalidate", "Tilt",
    "Untilt", "Arrive", "Mount", "Dismount", "Break", "Pickup", "Death", "Kill", "On", "Off",
    "NPCPatrolOn", "NPCPatrolOff", "NPCWanderOn", "NPCWanderOff", "NPCDetectOn", "NPCDetectOff",
    "NPCChaseOn", "NPCChaseOff", "NPCGoToSleep", "NPCWakeUp", "NPCRespawn", "PlayerDeath",
    "GiveChance", "GiveShinyObjects", "GiveHealth", "Press", "Unpress", "ArriveHalfway", "Hit",
    "ButtonPressAction", "Evaluate", "True", "False", "PadPressX", "PadPressSquare",
    "PadPressO", "PadPressTriangle", "PadPressL1", "PadPressL2", "PadPressR1", "PadPressR2",
    "PadPressStart", "PadPressSelect", "PadPressUp", "PadPressDown", "PadPressRight",
    "PadPressLeft", "FontBackdropOn", "FontBackdropOff", "UISelect", "UIUnselect", "UIFocusOn",
    "UIFocusOff", "CollisionOn", "CollisionOff", "Collision_Visible_On",
    "Collision_Visible_Off", "SceneBegin", "SceneEnd", "RoomBegin", "RoomEnd", "LobMasterShoot",
    "LobMasterReset", "FallToDeath", "UIFocusOn_Select", "UIFocusOff_Unselect",
    "Dispatcher_PadCfg_PresetA", "Dispatcher_PadCfg_PresetB", "Dispatcher_PadCfg_PresetC",
    "Dispatcher_PadCfg_PresetD", "Dispatcher_PadVibrateOn", "Dispatcher_PadVibrateOff",
    "Dispatcher_SoundMono", "Dispatcher_SoundStereo", "Dispatcher_SoundMasterIncrease",
    "Dispatcher_SoundMasterDecrease", "Dispatcher_SoundMusicIncrease",
    "Dispatcher_SoundMusicDecrease", "Dispatcher_SoundSFXIncrease",
    "Dispatcher_SoundSFXDecrease", "Dispatcher_IntroState_Sony",
    "Dispatcher_IntroState_Publisher", "Dispatcher_IntroState_Developer",
    "Dispatcher_IntroState_License", "Dispatcher_IntroState_Count",
    "Dispatcher_TitleState_Start", "Dispatcher_TitleState_Attract",
    "Dispatcher_TitleState_Count", "Dispatcher_LoadState_SelectMemCard",
    "Dispatcher_LoadState_SelectSlot", "Dispatcher_LoadState_Loading",
    "Dispatcher_LoadState_Count", "Dispatcher_OptionsState_Options",
    "Dispatcher_OptionsState_Count", "Dispatcher_SaveState_SelectMemCard",
    "Dispatcher_SaveState_SelectSlot", "Dispatcher_SaveState_Saving",
    "Dispatcher_SaveState_Count", "Dispatcher_PauseState_Pause",
    "Dispatcher_PauseState_Options", "Dispatcher_PauseState_Count",
    "Dispatcher_GameState_FirstTime", "Dispatcher_GameState_Play",
    "Dispatcher_GameState_LoseChance", "Dispatcher_GameState_GameOver",
    "Dispatcher_GameState_SceneSwitch", "Dispatcher_GameState_Dead",
    "Dispatcher_SetIntroState_Sony", "Dispatcher_SetIntroState_Publisher",
    "Dispatcher_SetIntroState_Developer", "Dispatcher_SetIntroState_License",
    "Dispatcher_SetIntroState_Count", "Dispatcher_SetTitleState_Start",
    "Dispatcher_SetTitleState_Attract", "Dispatcher_SetTitleState_Count",
    "Dispatcher_SetLoadState_SelectMemCard", "Dispatcher_SetLoadState_SelectSlot",
    "Dispatcher_SetLoadState_Loading", "Dispatcher_SetLoadState_Count",
    "Dispatcher_SetOptionsState_Options", "Dispatcher_SetOptionsState_Count",
    "Dispatcher_SetSaveState_SelectMemCard", "Dispatcher_SetSaveState_SelectSlot",
    "Dispatcher_SetSaveState_Saving", "Dispatcher_SetSaveState_Count",
    "Dispatcher_SetPauseState_Pause", "Dispatcher_SetPauseState_Options",
    "Dispatcher_SetPauseState_Count", "Dispatcher_SetGameState_FirstTime",
    "Dispatcher_SetGameState_Play", "Dispatcher_SetGameState_LoseChance",
    "Dispatcher_SetGameState_GameOver", "Dispatcher_SetGameState_SceneSwitch",
    "Dispatcher_SetGameState_Dead", "Digup", "Dispatcher_GameState_Exit",
    "Dispatcher_SetGameState_Exit", "LobMasterShootFromWidget", "Dispatcher_SLBack",
    "Dispatcher_SLCancel", "Dispatcher_SLRetry", "Dispatcher_SLSelectCard",
    "Dispatcher_SLSelectSlot", "Dispatcher_SLOkay", "VilHurtBoss", "Attack", "AttackOn",
    "AttackOff", "Drop", "VilReport_StartingIdle", "VilReport_StartingSleep",
    "VilReport_StartingGuard", "VilReport_StartingPatrol", "VilReport_StartingDazed",
    "VilReport_StartingLook", "VilReport_StartingListen", "VilReport_StartingInvestigate",
    "VilReport_StartingChase", "VilReport_StartingAttack", "VilReport_StartingRetreat",
    "Preload", "Done", "Arcto", "DigupReaction", "Dispatcher_StoreCheckPoint", "AnimPlay",
    "AnimPlayLoop", "AnimStop", "AnimPause", "AnimResume", "AnimTogglePause", "AnimPlayRandom",
    "AnimPlayMaybe", "SetSpeed", "Accelerate", "MoveToTarget", "SwingerFollow", "ShaggyMount",
    "ShaggyWitchDrop", "ShaggySwap", "ShaggyState", "ShaggyAction", "EnterEntity", "ExitEntity",
    "EnterEntityFLAG", "ExitEntityFLAG", "Drivenby", "FollowTarget", "FaceTarget",
    "WatchTarget", "ShaggyCollideOnly", "Shaggy1_ThrowTarget", "Shaggy8_CallEnable",
    "Shaggy8_CallDisable", "Shaggy8_SetMagnet", "Shaggy8_ClearMagnet", "StartMoving",
    "StopMoving", "Swoosh", "ShaggySetDown", "ShaggyGrabEnable", "ShaggyGrabDisable",
    "ShaggyGrabbed", "ShaggyThrown", "VilDoAction", "GangDoBossAction", "VilFakeChaseOn",
    "VilFakeChaseOff", "BossMMPushButton", "VilReport_DecayComplete", "VilGuardWidget",
    "TextureAnimateOn", "TextureAnimateOff", "TextureAnimateToggle", "ColorEffectOn",
    "ColorEffectOff", "ColorEffectToggle", "SetTextureAnimGroup", "SetTextureAnimSpeed",
    "TextureAnimateStep", "Emit", "Emitted", "TranslucentOn", "TranslucentOff",
    "TranslucentToggle", "VilGangTalkOn", "VilGangTalkOff", "GivePowerUp", "UnlockR001",
    "UnlockS001", "UnlockE001", "UnlockF001", "DisableGroupContents", "ShaggyPhysHack",
    "OccludeOn", "OccludeOff", "WaveSetLinear", "WaveSetRipple", "SituationLaugh",
    "SituationBossBattleGreenGhost", "SituationBossBattleRedBeard",
    "SituationBossBattleMasterMind", "SituationBossBattleBlacknight", "SituationPlayerScare",
    "SituationPlayerSafe", "SituationPlayerDanger", "SituationPlayerChaseBegin",
    "SituationPlayerChaseEnd", "SituationPlayerSeeShaggy", "SituationPlayerSeeFood",
    "SituationPlayerSeeToken", "SituationPlayerSeeScoobySnack", "SituationPlayerSeePowerup",
    "SituationPlayerSeeMonster", "SituationPlayerSuccess", "SituationPlayerFailure",
    "Dispatcher_ShowHud", "Dispatcher_HideHud", "Dispatcher_FadeOut", "SetRain", "SetSnow",
    "ShaggyMowerStopMode", "ScriptReset", "WaitForInput", "PlayMovie", "DefeatedMM",
    "Dispatcher_SetGameState_GameStats", "PlayMusic", "Forward", "Reverse", "PlayerRumbleTest",
    "PlayerRumbleLight", "PlayerRumbleMedium", "PlayerRumbleHeavy", "DispatcherScreenAdjustON",
    "DispatcherScreenAdjustOFF", "SetSkyDome", "ConnectToChild", "DuploWaveBegin",
    "DuploWaveComplete", "DuploNPCBorn", "DuploNPCKilled", "DuploExpiredMaxNPC", "DuploPause",
    "DuploResume", "SetGoo", "NPCScript_ScriptBegin", "NPCScript_ScriptEnd",
    "NPCScript_ScriptReady", "NPCScript_Halt", "NPCScript_SetPos", "NPCScript_SetDir",
    "NPCScript_LookNormal", "NPCScript_LookAlert", "NPCScript_FaceWidget",
    "NPCScript_FaceWidgetDone", "NPCScript_GotoWidget", "NPCScript_GotoWidgetDone",
    "NPCScript_AttackWidget", "NPCScript_AttackWidgetDone", "NPCScript_FollowWidget",
    "NPCScript_PlayAnim", "NPCScript_PlayAnimDone", "NPCScript_LeadPlayer", "SetText",
    "StartConversation", "EndConversation", "Switch", "AddText", "ClearText", "OpenTBox",
    "CloseTBox", "TalkBox_OnSignal0", "TalkBox_OnSignal1", "TalkBox_OnSignal2",
    "TalkBox_OnSignal3", "TalkBox_OnSignal4", "TalkBox_OnSignal5", "TalkBox_OnSignal6",
    "TalkBox_OnSignal7", "TalkBox_OnSignal8", "TalkBox_OnSignal9", "TalkBox_StopWait",
    "TalkBox_OnStart", "TalkBox_OnStop", "Hit_Melee", "Hit_BubbleBounce", "Hit_BubbleBash",
    "Hit_BubbleBowl", "Hit_PatrickSlam", "Hit_Throw", "Hit_PaddleLeft", "Hit_PaddleRight",
    "TaskBox_Initiate", "TaskBox_SetSuccess", "TaskBox_SetFailure", "TaskBox_OnAccept",
    "TaskBox_OnDecline", "TaskBox_OnComplete", "GenerateBoulder", "LaunchBoulderAtWidget",
    "LaunchBoulderAtPoint", "LaunchBoulderAtPlayer", "DuploSuperDuperDone", "DuploDuperIsDoner",
    "BusStopSwitchChr", "GroupUpdateTogether", "SetUpdateDistance", "TranslLocalX",
    "TranslLocalY", "TranslLocalZ", "TranslWorldX", "TranslWorldY", "TranslWorldZ", "RotLocalX",
    "RotLocalY", "RotLocalZ", "RotWorldX", "RotWorldY", "RotWorldZ", "TranslLocalXDone",
    "TranslLocalYDone", "TranslLocalZDone", "TranslWorldXDone", "TranslWorldYDone",
    "TranslWorldZDone", "RotLocalXDone", "RotLocalYDone", "RotLocalZDone", "RotWorldXDone",
    "RotWorldYDone", "RotWorldZDone", "Count1", "Count2", "Count3", "Count4", "Count5",
    "Count6", "Count7", "Count8", "Count9", "Count10", "Count11", "Count12", "Count13",
    "Count14", "Count15", "Count16", "Count17", "Count18", "Count19", "Count20", "SetState",
    "EnterSpongeBob", "EnterPatrick", "EnterSandy", "ExitSpongeBob", "ExitPatrick", "ExitSandy",
    "NPCSpecial_PlatformSnap", "NPCSpecial_PlatformFall", "GooSetWarb", "GooSetFreezeDuration",
    "GooMelt", "SetStateRange", "SetStateDelay", "SetTransitionDelay", "NPCFightOn",
    "NPCFightOff", "NPCSplineOKOn", "NPCSplineOKOff", "NPCKillQuietly", "HitHead",
    "HitUpperBody", "HitLeftArm", "HitRightArm", "HitLeftLeg", "HitRightLeg", "HitLowerBody",
    "GiveCurrLevelSocks", "GiveCurrLevelPickup", "SetCurrLevelSocks", "SetCurrLevelPickup",
    "TalkBox_OnYes", "TalkBox_OnNo", "Hit_Cruise", "DuploKillKids", "TalkBox_OnSignal10",
    "TalkBox_OnSignal11", "TalkBox_OnSignal12", "TalkBox_OnSignal13", "TalkBox_OnSignal14",
    "TalkBox_OnSignal15", "TalkBox_OnSignal16", "TalkBox_OnSignal17", "TalkBox_OnSignal18",
    "TalkBox_OnSignal19", "SpongeballOn", "SpongeballOff", "LaunchShrapnel", "NPCHPIncremented",
    "NPCHPDecremented", "NPCSetActiveOn", "NPCSetActiveOff", "PlrSwitchCharacter", "LevelBegin",
    "SceneReset", "SceneEnter", "SituationDestroyedTiki", "SituationDestroyedRobot",
    "SituationSeeWoodTiki", "SituationSeeLoveyTiki", "SituationSeeShhhTiki",
    "SituationSeeThunderTiki", "SituationSeeStoneTiki", "SituationSeeFodder",
    "SituationSeeHammer", "SituationSeeTarTar", "SituationSeeGLove", "SituationSeeMonsoon",
    "SituationSeeSleepyTime", "SituationSeeArf", "SituationSeeTubelets", "SituationSeeSlick",
    "SituationSeeKingJellyfish", "SituationSeePrawn", "SituationSeeDutchman",
    "SituationSeeSandyBoss", "SituationSeePatrickBoss", "SituationSeeSpongeBobBoss",
    "SituationSeeRobotPlankton", "UIChangeTexture", "NPCCheerForMe", "FastVisible",
    "FastInvisible", "ZipLineMount", "ZipLineDismount", "Target", "Fire", "CameraFXShake",
    "BulletTime", "Thrown", "UpdateAnimMatrices", "EnterCruise", "ExitCruise", "CruiseFired",
    "CruiseDied", "CruiseAddLife", "CruiseSetLife", "CruiseResetLife", "CameraCollideOff",
    "CameraCollideOn", "OnSliding", "OffSliding", "TimerSet", "TimerAdd",
    "NPCForceConverseStart", "MakeASplash", "CreditsStart", "CreditsStop", "CreditsEnded",
    "BubbleWipe", "SetLightKit", "SetOpacity", "TakeSocks", "DispatcherAssert", "Born",
    "PlatPause", "PlatUnpause", "StoreOptions", "RestoreOptions",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_at_their_numbers() {
        let known = [
            (0, "Unknown"),
            (2, "Disable"),
            (5, "EnterPlayer"),
            (10, "Reset"),
            (18, "Run"),
            (20, "Expired"),
            (24, "Play"),
            (87, "SceneBegin"),
            (335, "StartConversation"),
            (336, "EndConversation"),
            (337, "Switch"),
            (540, "RestoreOptions"),
        ];
        for (number, name) in known {
            assert_eq!(event_name(number), Some(name));
        }
        assert_eq!(event_name(541), None);
    }
}
