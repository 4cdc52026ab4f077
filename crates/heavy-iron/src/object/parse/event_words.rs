//! The words for events that IndustrialPark, an editor of these archives, shows
//! instead of the names in the engine. Modders know events by them.

use super::events::event_name;

/// Returns the word for an event of Battle for Bikini Bottom.
pub fn event_word(number: u16) -> Option<&'static str> {
    let found = WORDS.binary_search_by_key(&number, |(known, _)| *known);
    match found {
        Ok(place) => Some(WORDS[place].1),
        Err(_) => event_name(number),
    }
}

/// The words that differ from the names, by the numbers of their events.
#[rustfmt::skip]
const WORDS: [(u16, &str); 236] = [
    (40, "PatrolOn"), (41, "PatrolOff"), (42, "WanderOn"), (43, "WanderOff"),
    (44, "DetectPlayerOn"), (45, "DetectPlayerOff"), (46, "ChasePlayerOn"), (47, "ChasePlayerOff"),
    (48, "GoToSleep"), (49, "WakeUpVillain"), (50, "Respawn"), (55, "ButtonPress"),
    (56, "ButtonUnpress"), (85, "CollisionVisibleOn"), (86, "CollisionVisibleOff"),
    (87, "ScenePrepare"), (88, "SceneFinish"), (89, "RoomPrepare"), (90, "RoomFinish"),
    (94, "UIFocusOnSelect"), (95, "UIFocusOffUnselect"), (96, "SetPadConfigtoPresetA"),
    (97, "SetPadConfigtoPresetB"), (98, "SetPadConfigtoPresetC"), (99, "SetPadConfigtoPresetD"),
    (100, "PadVibrateOn"), (101, "PadVibrateOff"), (102, "MonoSound"), (103, "StereoSound"),
    (104, "IncreaseMasterVolume"), (105, "DecreaseMasterVolume"), (106, "IncreaseMusicVolume"),
    (107, "DecreaseMusicVolume"), (108, "IncreaseSFXVolume"), (109, "DecreaseSFXVolume"),
    (110, "IntroState_Sony"), (111, "IntroState_Publisher"), (112, "IntroState_Developer"),
    (113, "IntroState_License"), (114, "IntroState_Count"), (115, "TitleState_Start"),
    (116, "TitleState_Attract"), (117, "TitleState_Count"), (118, "LoadState_SelectMemCard"),
    (119, "LoadState_SelectSlot"), (120, "LoadState_Loading"), (121, "LoadState_Count"),
    (122, "OptionsState_Options"), (123, "OptionsState_Count"), (124, "SaveState_SelectMemCard"),
    (125, "SaveState_SelectSlot"), (126, "SaveState_Saving"), (127, "SaveState_Count"),
    (128, "PauseState_Pause"), (129, "PauseState_Options"), (130, "PauseState_Count"),
    (131, "GameState_FirstTime"), (132, "GameState_Play"), (133, "GameState_LoseChance"),
    (134, "GameState_GameOver"), (135, "GameState_SceneSwitch"), (136, "GameState_Dead"),
    (137, "SetIntroState_Sony"), (138, "SetIntroState_Publisher"),
    (139, "SetIntroState_Developer"), (140, "SetIntroState_License"), (141, "SetIntroState_Count"),
    (142, "SetTitleState_Start"), (143, "SetTitleState_Attract"), (144, "SetTitleState_Count"),
    (145, "SetLoadState_SelectMemCard"), (146, "SetLoadState_SelectSlot"),
    (147, "SetLoadState_Loading"), (148, "SetLoadState_Count"), (149, "SetOptionsState_Options"),
    (150, "SetOptionsState_Count"), (151, "SetSaveState_SelectMemCard"),
    (152, "SetSaveState_SelectSlot"), (153, "SetSaveState_Saving"), (154, "SetSaveState_Count"),
    (155, "SetPauseState_Pause"), (156, "SetPauseState_Options"), (157, "SetPauseState_Count"),
    (158, "SetGameState_FirstTime"), (159, "SetGameState_Play"), (160, "SetGameState_LoseChance"),
    (161, "SetGameState_GameOver"), (162, "SetGameState_SceneSwitch"), (163, "SetGameState_Dead"),
    (165, "GameState_Exit"), (166, "SetGameState_Exit"), (168, "Back"), (169, "Cancel"),
    (170, "Retry"), (171, "SelectCard"), (172, "SelectSlot"), (173, "OK"), (178, "Droppickup"),
    (194, "SetCheckPoint"), (214, "ENTERFLAGGEDDONOTUSE"), (215, "EXITFLAGGEDDONOTUSE"),
    (266, "WaveSetLinearOBSOLETE"), (267, "WaveSetRippleOBSOLETE"), (286, "ShowHud"),
    (287, "HideHud"), (288, "FADEOUT"), (295, "Mastermindisdefeated"), (296, "UnknownUnused"),
    (304, "ScreenAdjustmentON"), (305, "ScreenAdjustmentOFF"), (306, "SetasSkydome"),
    (307, "Connect_IOwnYou"), (308, "Duplotron_WaveBegin"), (309, "Duplotron_WaveComplete"),
    (310, "Duplotron_NPCBorn"), (311, "Duplotron_NPCKilled"), (312, "Duplotron_MaxNPCExpired"),
    (313, "Duplotron_Pause"), (314, "Duplotron_Resume"), (315, "SetasGoo"),
    (340, "OpenTeleportBox"), (341, "CloseTeleportBox"), (342, "OnSignal0"), (343, "OnSignal1"),
    (344, "OnSignal2"), (345, "OnSignal3"), (346, "OnSignal4"), (347, "OnSignal5"),
    (348, "OnSignal6"), (349, "OnSignal7"), (350, "OnSignal8"), (351, "OnSignal9"),
    (352, "StopWait"), (353, "OnConversationStart"), (354, "OnConversationEnd"), (355, "HitMelee"),
    (356, "HitBubbleBounce"), (357, "HitBubbleBash"), (358, "HitBubbleBowl"),
    (359, "HitPatrickSlam"), (360, "HitByThrowable"), (361, "PaddleHitLeft"),
    (362, "PaddleHitRight"), (363, "InitiateTask"), (364, "SetSuccess"), (365, "SetFailure"),
    (366, "OnAccept"), (367, "OnDecline"), (368, "OnComplete"), (373, "Duplotron_SuperDuperDone"),
    (374, "Duplotron_DuperIsDoner"), (375, "BusSwitchCharacter"), (378, "TranslateLocalX"),
    (379, "TranslateLocalY"), (380, "TranslateLocalZ"), (381, "TranslateWorldX"),
    (382, "TranslateWorldY"), (383, "TranslateWorldZ"), (384, "RotateLocalX"),
    (385, "RotateLocalY"), (386, "RotateLocalZ"), (387, "RotateWorldX"), (388, "RotateWorldY"),
    (389, "RotateWorldZ"), (390, "TranslateLocalXDone"), (391, "TranslateLocalYDone"),
    (392, "TranslateLocalZDone"), (393, "TranslateWorldXDone"), (394, "TranslateWorldYDone"),
    (395, "TranslateWorldZDone"), (396, "RotateLocalXDone"), (397, "RotateLocalYDone"),
    (398, "RotateLocalZDone"), (399, "RotateWorldXDone"), (400, "RotateWorldYDone"),
    (401, "RotateWorldZDone"), (431, "Goosetwarbcoeffs"), (432, "Goosetfreezeduration"),
    (433, "Goomelt"), (439, "NPCPatrolSplineOn"), (440, "NPCPatrolSplineOff"), (442, "HitGeneral"),
    (443, "HitHead"), (449, "GiveSocks"), (450, "GiveCollectables"), (451, "SetSocks"),
    (452, "SetCollectables"), (453, "OnAnswerYes"), (454, "OnAnswerNo"), (455, "HitCruiseBubble"),
    (456, "Duplotron_KillKids"), (457, "OnSignal10"), (458, "OnSignal11"), (459, "OnSignal12"),
    (460, "OnSignal13"), (461, "OnSignal14"), (462, "OnSignal15"), (463, "OnSignal16"),
    (464, "OnSignal17"), (465, "OnSignal18"), (466, "OnSignal19"), (474, "SwitchPlayerCharacter"),
    (478, "DestroyedTiki"), (479, "DestroyedRobot"), (480, "SeeWoodTiki"), (481, "SeeLoveyTiki"),
    (482, "SeeShhhTiki"), (483, "SeeThunderTiki"), (484, "SeeStoneTiki"), (485, "SeeFodder"),
    (486, "SeeHammer"), (487, "SeeTarTar"), (488, "SeeGLove"), (489, "SeeMonsoon"),
    (490, "SeeSleepyTime"), (491, "SeeArf"), (492, "SeeTubelets"), (493, "SeeSlick"),
    (494, "SeeKingJellyfish"), (495, "SeePrawn"), (496, "SeeDutchman"), (497, "SeeSandyBoss"),
    (498, "SeePatrickBoss"), (499, "SeeSpongeBobBoss"), (500, "SeeRobotPlankton"),
    (501, "ChangeTextureofUI"), (522, "SlideOn"), (523, "SlideOff"), (526, "ForceNPCConversation"),
    (528, "Creditsstart"), (529, "Creditsstop"), (530, "Creditsended"), (532, "SetLightkit"),
    (535, "DebugBREAK"), (537, "PlatformPause"), (538, "PlatformUnpause"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_at_the_numbers_of_their_events() {
        let known = [
            (1, "Enable"),
            (87, "ScenePrepare"),
            (194, "SetCheckPoint"),
            (378, "TranslateLocalX"),
            (442, "HitGeneral"),
            (540, "RestoreOptions"),
        ];
        for (number, word) in known {
            assert_eq!(event_word(number), Some(word));
        }
        assert_eq!(event_word(541), None);
        assert!(WORDS.is_sorted_by_key(|(number, _)| *number));
        let is_other =
            |(number, word): &(u16, &str)| event_name(*number).is_some_and(|name| name != *word);
        assert!(WORDS.iter().all(is_other));
    }
}
