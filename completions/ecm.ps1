# PowerShell completion for ecm
Register-ArgumentCompleter -Native -CommandName ecm -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($wordToComplete -eq '') { $words += '""' }
    ecm __complete -- @words 2>$null | ForEach-Object {
        $name, $description = $_ -split "`t", 2
        if (-not $description) { $description = $name }
        $quoted = if ($name -match '[\s,;''"]') { "'" + $name.Replace("'", "''") + "'" } else { $name }
        [System.Management.Automation.CompletionResult]::new($quoted, $name, 'ParameterValue', $description)
    }
}
