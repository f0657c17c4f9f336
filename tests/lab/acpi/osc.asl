// The arm64 guest's firmware has no _OSC, and the kernel looks at _CPC only where one grants it CPPC.

DefinitionBlock ("", "SSDT", 2, "PERFLB", "OSC", 1)
{
    Scope (\_SB)
    {
        Method (_OSC, 4)
        {
            CreateDWordField (Arg3, 0, CAP1)  // bits 1 to 4: what went wrong
            CreateDWordField (Arg3, 4, CAP2)  // bits 5 and 6: CPPC
            CAP1 &= 0xFFFFFFE1
            CAP2 &= 0x4060
            Return (Arg3)
        }
    }
}
