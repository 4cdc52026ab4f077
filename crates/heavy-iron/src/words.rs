//! Words for numbers in object fields: the engine's own words, or else an editor's.

use crate::record::Words;

macro_rules! words {
    ($($name:ident $kind:ident $list:tt)*) => {
        $(pub(crate) const $name: Words = Words::$kind(&$list);)*
    };
}

words! {
    AXES List ["X", "Y", "Z"]

    ACT_METHODS List ["Button", "PressurePlate", "Other"]
    CAMERA_TRANSITIONS List [
        "None", "Interp1", "Interp2", "Interp3", "Interp4", "Linear", "Interp1Rev", "Interp2Rev",
        "Interp3Rev", "Interp4Rev",
    ]
    COLOR_ANIMATIONS List ["None", "Pulse", "Flicker"]
    CUTSCENE_DATA List [
        "Null", "Model", "Animation", "Camera", "MorphTarget", "Sound", "JDeltaModel", "JDeltaAnim",
    ]
    DELEGATIONS List ["AllItems", "RandomItem", "InOrder"]
    DRIVING_SURFACES List [
        "Default", "Tarmac", "Cement", "HardDirt", "Railroad", "Grass", "SoftDirt", "SideWalk",
        "Sand", "SurfaceWater", "ThickOil", "HotSauce", "NumNormalDrivableSurfaces", "Wall",
        "SlideTubWood", "SlideTubSand", "SlideTubHardRock", "SlideShellHardRock", "SlideShellTongue",
        "SlideCrownRubberHose", "SlideCrownRubberCable", "SlideCrownMetalLamp",
    ]
    ATTACH_TYPES List ["fixed", "entity", "entity_tag"]
    MOTION_TYPES List ["none", "spiral"]
    EMITTER_VOLUMES List [
        "point", "sphere", "circle", "line", "model", "box",
    ]
    RING_PLAYERS List [
        "PattyWagon", "SpongeBobOrPatrick", "SpongeBall", "ToungeBoarding", "SpongePatSlide",
        "CruiseBubble",
    ]
    SPRINGBOARDS List ["Idle", "Compressing", "Compressed", "Launching"]
    MECHANISM_FLAGS List [
        "None", "ReturnToStart", "DontLoop", "ReturnToStartAndDontLoop",
    ]
    MOVEMENTS List [
        "Slide", "Rotate", "SlideAndRotate", "SlideThenRotate", "RotateThenSlide", "Scale",
    ]
    PICKUP_FLAGS List [
        "None", "ReappearAfterCollect", "InitiallyVisible", "Both",
    ]
    ONE_LINER_PLAYERS List [
        "eALWAYS", "eCOUNTER", "eCHECKER", "eTESTER", "ePLAYER_TYPE_SIZE",
    ]
    WAVE_MODES List ["CONTINUOUS", "DISCREET"]
    EXPANSIONS Some [(0, "UP"), (1, "CENTER"), (2, "DOWN"), (100, "MAX")]
    FONTS List ["Spongebob", "Arial", "System", "Numbers"]
    LAND_EFFECTS List ["None", "Dust"]
    LIGHT_EFFECTS List [
        "None", "None1", "FlickerSlow", "Flicker", "FlickerErratic", "StrobeSlow", "Strobe",
        "StrobeFast", "DimSlow", "Dim", "DimFast", "HalfDimSlow", "HalfDim", "HalfDimFast",
        "RandomColSlow", "RandomCol", "RandomColFast", "Cauldron",
    ]
    LIGHTS List ["Point", "Spot", "Point2", "Point3"]
    NPC_BASES List [
        "NONE", "EVILROBOT", "FRIENDLYROBOT", "LOVINGCITIZEN", "GRUMPYCITIZEN",
    ]
    PIPE_LAYERS List [
        "FIRST", "PREPICKUP", "POSTPICKUP", "PREOOB", "POSTOOB", "PRECUTSCENE", "POSTCUTSCENE",
        "PRENPC", "POSTNPC", "PRESHADOW", "POSTSHADOW", "PREFX", "POSTFX", "PREPARTICLES",
        "POSTPARTICELS", "PRENORMAL4", "PRENORMAL3", "PRENORMAL2", "PRENORMAL", "NORMAL",
        "POSTNORMAL", "POSTNORMAL2", "POSTNORMAL3", "POSTNORMAL4", "PREPTANK", "POSTPTANK",
        "PREDECAL", "POSTDECAL", "PRELASTFX", "POSTLASTFX", "PRELAST", "LAST",
    ]
    PARTICLE_SYSTEMS List [
        "Dummy", "Waterfall", "WaterfallMist", "WaterfallSplash", "Snow", "Rain", "EarthDust", "Pop",
        "BurrowKickup", "Puffer",
    ]
    PLAYERS List ["Patrick", "Sandy"]
    VOLUMES List ["Unknown", "Sphere", "Box", "Cylinder_DoesntWork"]
    X_JUSTIFY List ["LEFT", "CENTER", "RIGHT"]
    Y_JUSTIFY List ["TOP", "CENTER", "BOTTOM"]
    EFFECT_LIGHTS List ["Ambient", "Spotlight", "Directional", "Point"]
    SPAWN_MODES List [
        "CONTINUOUS", "WAVES", "AMBUSHWAVE", "AMBUSHCONT", "NOMORE",
    ]
    MISSION_STATES List ["Locked", "Unlocked", "completed"]
    AVAILABILITIES List ["Unavailable", "Available"]
    HIT_SOURCES List [
        "EVENT", "GENERAL", "PROJECTILE", "EXPLOSION", "LASER", "ENERGY", "FIRE", "SURFACE",
        "MELEE_HIGH", "MELEE_MID", "MELEE_LOW", "MELEE_UP", "MELEE_BACK", "MELEE_DIZZY", "THROW",
        "WATER", "DEATHPLANE", "INCREDI", "KNOCKBACK", "LASERBEAM", "INFINITE_FALL",
    ]
    BOULDER_FLAGS Bits [
        (0, "Can Hit Walls"), (1, "Damage Player"), (2, "Something related to destructibles"),
        (3, "Damage NPCs"), (5, "Die on OOB surfaces"), (8, "Die on player attack"),
        (9, "Die after kill timer"),
    ]
    ACT_FLAGS Bits [
        (0, "Bubble Spin/Sliding"), (1, "Bubble Bounce"), (2, "Bubble Bash"),
        (3, "Boulder/Bubble Bowl"), (4, "Cruise Bubble"), (5, "Bungee"), (6, "Thrown Enemy/Tiki"),
        (7, "Throw Fruit"), (8, "Patrick Slam"), (10, "(Pressure Plate) Player Stand"),
        (11, "(Pressure Plate) Enemy Stand"), (12, "(Pressure Plate) Boulder/Bubble Bowl"),
        (13, "(Pressure Plate) Stone Tiki"), (14, "Sandy Melee/Sliding"),
        (15, "Patrick Melee/Sliding"), (16, "(Pressure Plate) Throw Fruit"),
        (17, "Patrick Cartwheel"),
    ]
    MOTION_FLAGS Bits [
        (0, "Face movement direction"), (2, "Don't start moving"),
    ]
    HIT_MASK Bits [
        (12, "Bubble Spin"), (13, "Bubble Bounce"), (14, "Bubble Bash"), (15, "Bubble Bowl"),
        (16, "Cruise Bubble"),
    ]
    SOLIDITY Bits [
        (0, "Diggable"), (1, "Precise Collision"), (3, "Grabbable"), (4, "Hittable"),
        (5, "Animate Collision"), (7, "Ledge Grab"),
    ]
    VISIBILITY Bits [
        (0, "Visible"), (1, "Stackable"), (6, "No Shadow"),
    ]
    ENEMY_FLAGS Bits [
        (0, "Prepare for Scare"), (2, "Walk on PLATs"), (3, "Walk on SIMPs"),
    ]
    VENT_FLAGS Bits [
        (0, "Break boulders"), (1, "Automatic"), (2, "Damage spongeball"),
    ]
    RAT_FLAGS Bits [(0, "Enabled")]
    WARP_FLAGS Bits [(0, "Enabled"), (1, "Running")]
    FLAME_FLAGS Bits [(1, "Visible")]
    GENERATOR_FLAGS Bits [(0, "Start on")]
    GUST_FLAGS Bits [(0, "Start on"), (1, "No leaves")]
    LIGHT_FLAGS Bits [(3, "Environment"), (5, "On")]
    EMITTER_FLAGS Bits [(0, "On")]
    PLATFORM_FLAGS Bits [(0, "Shake on Mount"), (2, "Solid")]
    SPRING_FLAGS Bits [(0, "Allow sneak")]
    SOUND_FLAGS Bits [(2, "Play from Entity")]
    SOUND_GROUP_FLAGS Bits [(0, "Play globally")]
    COLLISION_TYPES Bits [
        (0, "Trigger"), (1, "Static"), (2, "Dynamic"), (3, "NPC"), (4, "Player"),
    ]
    SURFACE_FLAGS Bits [
        (0, "Slide Off Player"), (1, "Angle Player"), (3, "No Stand"), (4, "Out Of Bounds"),
        (5, "No Stand 2"), (6, "Ledge Grab"),
    ]
    UI_FLAGS Bits [
        (0, "Focus sets Select"), (2, "Screen Space"), (4, "Visible Allowed"),
        (5, "Invisible Allowed"),
    ]
    FONT_FLAGS Bits [
        (0, "Align Left"), (1, "Align Right"), (2, "Align Center"), (3, "Show Background"),
    ]
}
