// Performance registers (CPPC) of one CPU of the arm64 guest, as a Kunpeng 920 has them: 200 MHz to 2.60 GHz, in
// steps of 100 MHz. They lie in memory that QEMU shares with a file: ../told.py fills it and reads it back.
// ../guests.py fills in $cpu, the registers' addresses and $highest (26, or 30: a turbo of 3.00 GHz), and makes one
// table for each CPU.

#define NONE ResourceTemplate () { Register (SystemMemory, 0, 0, 0) }

DefinitionBlock ("", "SSDT", 2, "PERFLB", "CPPC", 1)
{
    External (\_SB.C00$cpu, DeviceObj)

    Scope (\_SB.C00$cpu)
    {
        Name (_CPC, Package ()
        {
            23, 3,                // entries, revision
            $highest, 26, 2, 2,   // highest, nominal, lowest without loss, lowest
            NONE,
            ResourceTemplate () { Register (SystemMemory, 32, 0, $desired, 3) },
            ResourceTemplate () { Register (SystemMemory, 32, 0, $minimum, 3) },
            ResourceTemplate () { Register (SystemMemory, 32, 0, $maximum, 3) },
            NONE, NONE, NONE,
            ResourceTemplate () { Register (SystemMemory, 64, 0, $reference, 4) },
            ResourceTemplate () { Register (SystemMemory, 64, 0, $delivered, 4) },
            ResourceTemplate () { Register (SystemMemory, 32, 0, $limited, 3) },
            NONE, NONE, NONE, NONE,
            26,                   // reference performance
            200, 2600             // lowest and nominal in MHz
        })
    }
}
